import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Reads paced streams on raw sockets: each connection asks for the next stream when one has ended, until the time
 * is over. All connections stand before the first stream begins; the streams begin spread over one pace.
 * Environment: BENCH_LOAD, a {@link StreamLoad} as JSON. Prints one line of JSON, {@link StreamFigures}.
 */
export interface StreamLoad {
  readonly port: number;
  /** The upstream itself: read from it first, so that neither end measures how its own code is compiled. */
  readonly upstreamPort: number;
  readonly key: string;
  /** Connections at a time. */
  readonly streams: number;
  readonly chunks: number;
  readonly paceMs: number;
  /** 0: each connection reads one stream. */
  readonly seconds: number;
  /** `sim-small` is served in the client's dialect, `sim-translated` in the other one. */
  readonly model: 'sim-small' | 'sim-translated';
  /** Characters of the request's text; 360 unless given. */
  readonly promptChars?: number;
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

const {
  port,
  upstreamPort,
  key,
  streams,
  chunks,
  paceMs,
  seconds,
  model,
  promptChars = 360,
} = JSON.parse(process.env['BENCH_LOAD'] ?? '') as StreamLoad;
const STALL_MS = 100;
const STAMP = 0x40;
/** What ends a chunked body, as a number of five bytes; nothing else that comes ends so. */
const END = [0x30, 0x0d, 0x0a, 0x0d, 0x0a].reduce((tail, byte) => tail * 256 + byte, 0);
const FIVE_BYTES = 2 ** 40;
const NOTHING = Buffer.alloc(0);
const READ_BYTES = 16 * 1024;
const WARM_UP = { streams: 64, chunks: 32, paceMs: 1 };

interface Course {
  readonly port: number;
  readonly streams: number;
  readonly chunks: number;
  readonly paceMs: number;
  readonly seconds: number;
}

/** What all connections of a course have seen. */
interface Seen {
  readonly firsts: number[];
  readonly delays: number[];
  ended: number;
  errors: number;
  seconds: number;
}

function requestOf({ port, chunks, paceMs }: Course): Buffer {
  const body = `{"model":"${model}","stream":true,"bench":{"chunks":${chunks},"paceMs":${paceMs}},"messages":[{"role":"user","content":"${'y'.repeat(promptChars)}"}],"max_tokens":100}`;
  return Buffer.from(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/**
 * One connection: a stream, and the next when it has ended. A class and a buffer of its own, so that reading costs
 * little.
 */
class Connection {
  readonly #request: Buffer;
  readonly #course: Course;
  readonly #seen: Seen;
  #endsAt = 0;
  readonly #socket: Socket;
  #sentAt = 0;
  #stamps = 0;
  #headRead = false;
  #tail = 0;
  /** A stamp of which only the beginning has come. */
  #held: Buffer = NOTHING;

  constructor(request: Buffer, course: Course, seen: Seen) {
    this.#request = request;
    this.#course = course;
    this.#seen = seen;
    this.#socket = connect({
      host: '127.0.0.1',
      port: course.port,
      noDelay: true,
      onread: {
        buffer: Buffer.alloc(READ_BYTES),
        callback: (length, bytes) => {
          this.#read((bytes as Buffer).subarray(0, length));
          return true;
        },
      },
    });
    this.#socket.on('error', () => (seen.errors += 1));
  }

  /** Resolves when the connection stands. */
  connected(): Promise<unknown> {
    return once(this.#socket, 'connect');
  }

  /** Reads one stream after another. Resolves when the last has ended. @param endsAt no stream begins after it. */
  play(endsAt: number): Promise<unknown> {
    this.#endsAt = endsAt;
    const closed = new Promise((resolve) => this.#socket.once('close', resolve));
    this.#send();
    return closed;
  }

  #send(): void {
    this.#stamps = 0;
    this.#headRead = false;
    this.#tail = 0;
    this.#sentAt = performance.now();
    this.#socket.write(this.#request);
  }

  #read(bytes: Buffer): void {
    const seen = this.#seen;
    if (!this.#headRead) {
      this.#headRead = true;
      if (bytes.toString('latin1', 9, 12) !== '200') {
        if (seen.errors === 0) console.error(`refused: ${bytes.toString('latin1', 0, 600)}`);
        seen.errors += 1;
        this.#socket.destroy();
        return;
      }
    }
    const found = this.#noteStamps(this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]));
    if (found > 0 && this.#stamps === 0) seen.firsts.push(performance.now() - this.#sentAt);
    this.#stamps += found;
    if (!this.#isEnd(bytes)) return;
    seen.ended += 1;
    if (this.#stamps !== this.#course.chunks) seen.errors += 1;
    if (performance.now() < this.#endsAt) this.#send();
    else this.#socket.destroy();
  }

  #noteStamps(bytes: Buffer): number {
    const nowUs = Number(process.hrtime.bigint() / 1000n);
    let found = 0;
    this.#held = NOTHING;
    for (let from = bytes.indexOf(STAMP); from >= 0; from = bytes.indexOf(STAMP, from)) {
      const to = bytes.indexOf(STAMP, from + 1);
      if (to < 0) {
        this.#held = Buffer.from(bytes.subarray(from));
        break;
      }
      this.#seen.delays.push((nowUs - Number(bytes.toString('latin1', from + 1, to))) / 1000);
      found += 1;
      from = to + 1;
    }
    return found;
  }

  #isEnd(bytes: Buffer): boolean {
    let tail = this.#tail;
    for (let i = Math.max(0, bytes.length - 5); i < bytes.length; i += 1)
      tail = (tail * 256 + (bytes[i] as number)) % FIVE_BYTES;
    this.#tail = tail;
    return tail === END;
  }
}

async function run(course: Course): Promise<Seen> {
  const seen: Seen = { firsts: [], delays: [], ended: 0, errors: 0, seconds: 0 };
  const request = requestOf(course);
  const connections = Array.from({ length: course.streams }, () => new Connection(request, course, seen));
  await Promise.all(connections.map((connection) => connection.connected()));
  const startedAt = performance.now();
  await Promise.all(
    connections.map(async (connection, index) => {
      await delay((index / course.streams) * Math.max(course.paceMs, 1));
      await connection.play(startedAt + course.seconds * 1000);
    }),
  );
  seen.seconds = (performance.now() - startedAt) / 1000;
  return seen;
}

await run({ ...WARM_UP, port: upstreamPort, seconds: 0 });
const { firsts, delays, ended, errors, seconds: elapsed } = await run({ port, streams, chunks, paceMs, seconds });
const at = (values: number[], share: number): number =>
  values.sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
const figures: StreamFigures = {
  streams: ended,
  chunks: delays.length,
  errors,
  seconds: elapsed,
  stalls: delays.filter((delayMs) => delayMs > STALL_MS).length,
  firstP50Ms: at(firsts, 0.5),
  firstP99Ms: at(firsts, 0.99),
  delayP50Ms: at(delays, 0.5),
  delayP99Ms: at(delays, 0.99),
  delayMaxMs: at(delays, 1),
};
console.log(JSON.stringify(figures));
