import { connect } from 'node:net';

/**
 * Sends large bodies, one connection for each key, the next when the last is answered. Environment: PORT, KEYS (with
 * commas between), SHAPE, BYTES, SECONDS. Prints one line of JSON: { sent, statuses }, how often each status came.
 */
const env = (name: string): string => process.env[name] ?? '';
const bytes = Number(env('BYTES'));
const pad = (text: string, ends = ''): string =>
  `{"model":"sim-small","messages":[{"role":"user","content":"Hi"}],"pad":${text}${ends}}`;

const SHAPES: Readonly<Record<string, () => string>> = {
  escapes: () => pad(`"${'\\"'.repeat(bytes / 2)}"`),
  brackets: () => pad('['.repeat(bytes / 2), ']'.repeat(bytes / 2)),
  numbers: () =>
    pad(`[${'1'.repeat(bytes / 480_000)}${`,${'1'.repeat(Math.max(1, bytes / 480_000 - 1))}`.repeat(480_000)}]`),
  names: () =>
    pad(`{${Array.from({ length: 90_000 }, (_, n) => `"n${n}":"${'x'.repeat(bytes / 90_000 - 12)}"`).join(',')}}`),
  string: () => pad(`"${'a'.repeat(bytes)}"`),
  space: () => pad(`0${' '.repeat(bytes)}`),
};

const body = (SHAPES[env('SHAPE')] as () => string)();
const endsAt = performance.now() + Number(env('SECONDS')) * 1000;
const statuses: Record<string, number> = {};
let sent = 0;

/** A refusal may come, and the connection be closed, before the body is sent. */
function once(key: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: Number(env('PORT')) });
    let answer = '';
    socket.on('connect', () =>
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      ),
    );
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sent += 1;
      const status = answer.slice(9, 12) || 'none';
      statuses[status] = (statuses[status] ?? 0) + 1;
      resolve();
    });
  });
}

await Promise.all(
  env('KEYS')
    .split(',')
    .map(async (key) => {
      while (performance.now() < endsAt) await once(key);
    }),
);
console.log(JSON.stringify({ sent, statuses }));
