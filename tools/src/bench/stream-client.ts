import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Reads paced streams on raw sockets: each connection asks for the next stream when one has ended, until the time is
 * over. The connections begin spread over one pace, so that chunks do not come in bursts. Environment: BENCH_LOAD, a
 * {@link StreamLoad} as JSON. Prints one line of JSON, {@link StreamFigures}.
 */
export interface StreamLoad {
  readonly port: number;
  readonly key: string;
  /** Connections at a time. */
  readonly streams: number;
  readonly chunks: number;
  readonly paceMs: number;
  /** 0: each connection reads one stream. */
  readonly seconds: number;
  /** `sim-small` is served in the client's dialect, `sim-translated` in the other one. */
  readonly model: 'sim-small' | 'sim-translated';
}

export interface StreamFigures {
  streams: number;
  chunks: number;
  errors: number;
  seconds: number;
  /** From the request to the first content, milliseconds. */
  firstP50Ms: number;
  firstP99Ms: number;
  /** From the provider's write to our read of one chunk, milliseconds. */
  delayP50Ms: number;
  delayP99Ms: number;
  delayMaxMs: number;
  /** Chunks that came more than 100 ms after they were sent. */
  stalls: number;
}

const { port, key, streams, chunks, paceMs, seconds, model } = JSON.parse(process.env['BENCH_LOAD'] ?? '') as StreamLoad;
const STALL_MS = 100;
const END = Buffer.from('\r\n0\r\n\r\n');

const body = `{"model":"${model}","stream":true,"bench":{"chunks":${chunks},"paceMs":${paceMs}},"messages":[{"role":"user","content":"${'y'.repeat(360)}"}],"max_tokens":100}`;
const request = Buffer.from(
  `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
);

const firsts: number[] = [];
const delays: number[] = [];
let ended = 0;
let errors = 0;
let stalls = 0;
const startedAt = performance.now();
const endsAt = startedAt + seconds * 1000;

function noteStamps(bytes: Buffer): number {
  let found = 0;
  const now = (performance.timeOrigin + performance.now()) * 1000;
  for (let from = bytes.indexOf('@'); from >= 0; from = bytes.indexOf('@', from + 1)) {
    const to = bytes.indexOf('@', from + 1);
    if (to < 0) break;
    const delayMs = (now - Number(bytes.toString('latin1', from + 1, to))) / 1000;
    delays.push(delayMs);
    if (delayMs > STALL_MS) stalls += 1;
    found += 1;
    from = to;
  }
  return found;
}

function drive(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    let sentAt = 0;
    let began = false;
    let seen = 0;
    let held: Buffer = Buffer.alloc(0);
    const send = (): void => {
      began = false;
      seen = 0;
      sentAt = performance.now();
      socket.write(request);
    };
    socket.setNoDelay(true);
    socket.on('connect', send);
    socket.on('error', () => (errors += 1));
    socket.on('close', () => resolve());
    socket.on('data', (chunk: Buffer) => {
      if (!began && chunk.includes('HTTP/1.1') && chunk.toString('latin1', 9, 12) !== '200') {
        if (errors === 0) console.error(`refused: ${chunk.toString('latin1', 0, 600)}`);
        errors += 1;
        socket.destroy();
        return;
      }
      const found = noteStamps(chunk);
      if (found > 0 && !began) {
        began = true;
        firsts.push(performance.now() - sentAt);
      }
      seen += found;
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      if (!held.subarray(-END.length).equals(END)) {
        held = held.subarray(-END.length);
        return;
      }
      held = Buffer.alloc(0);
      ended += 1;
      if (seen !== chunks) errors += 1;
      if (performance.now() < endsAt) send();
      else socket.destroy();
    });
  });
}

await Promise.all(
  Array.from({ length: streams }, async (_, index) => {
    await delay((index / streams) * Math.max(paceMs, 1));
    await drive();
  }),
);
const elapsed = (performance.now() - startedAt) / 1000;
const at = (values: number[], share: number): number => values.sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
const figures: StreamFigures = {
  streams: ended, chunks: delays.length, errors, seconds: elapsed, stalls,
  firstP50Ms: at(firsts, 0.5), firstP99Ms: at(firsts, 0.99),
  delayP50Ms: at(delays, 0.5), delayP99Ms: at(delays, 0.99), delayMaxMs: at(delays, 1),
};
console.log(JSON.stringify(figures));
