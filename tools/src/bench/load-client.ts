import { connect } from 'node:net';

/**
 * A closed-loop client on raw sockets: each connection sends the next request when the answer is complete.
 * Environment: PORT, KEY (several with commas between are used in turn), CONNECTIONS, SECONDS; TARGET_PATH and BODY
 * for another request. Prints one line of JSON: { requests, errors, seconds, p50Ms, p95Ms, p99Ms }.
 */
const env = (name: string): string => process.env[name] ?? '';
const seconds = Number(env('SECONDS'));
const path = env('TARGET_PATH') || '/v1/chat/completions';
const body =
  env('BODY') ||
  JSON.stringify({
    model: 'sim-small',
    messages: [
      { role: 'system', content: 'You answer briefly.' },
      { role: 'user', content: 'y'.repeat(360) },
    ],
    max_tokens: 100,
  });
const requests = env('KEY')
  .split(',')
  .map((key) =>
    Buffer.from(
      `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${env('PORT')}\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    ),
  );
let sent = 0;

const latencies: number[] = [];
let errors = 0;
const startedAt = performance.now();
const endsAt = startedAt + seconds * 1000;

/** End of the first whole answer in `bytes`, or -1. Answers have a content-length or are chunked. */
function endOfAnswer(bytes: Buffer): number {
  const head = bytes.indexOf('\r\n\r\n');
  if (head < 0) return -1;
  const headers = bytes.toString('latin1', 0, head);
  const length = /content-length: *(\d+)/i.exec(headers)?.[1];
  if (length !== undefined) return bytes.length >= head + 4 + Number(length) ? head + 4 + Number(length) : -1;
  const last = bytes.indexOf('0\r\n\r\n', head + 4);
  return last < 0 ? -1 : last + 5;
}

function drive(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: Number(env('PORT')) });
    let pending: Buffer = Buffer.alloc(0);
    let sentAt = 0;
    const send = () => {
      sentAt = performance.now();
      socket.write(requests[sent++ % requests.length] as Buffer);
    };
    socket.setNoDelay(true);
    socket.on('connect', send);
    socket.on('error', () => (errors += 1));
    socket.on('close', () => resolve());
    socket.on('data', (chunk: Buffer) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      const end = endOfAnswer(pending);
      if (end < 0) return;
      if (pending.toString('latin1', 9, 12) !== '200') errors += 1;
      pending = pending.subarray(end);
      const now = performance.now();
      latencies.push(now - sentAt);
      if (now < endsAt) send();
      else socket.destroy();
    });
  });
}

await Promise.all(Array.from({ length: Number(env('CONNECTIONS')) }, drive));
latencies.sort((a, b) => a - b);
const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? 0;
console.log(
  JSON.stringify({
    requests: latencies.length,
    errors,
    seconds: (performance.now() - startedAt) / 1000,
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    p99Ms: at(0.99),
  }),
);
