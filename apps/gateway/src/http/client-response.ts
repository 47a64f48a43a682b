import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Dialect } from '@sluice/contracts';
import type { Heartbeats, SilentStream } from './heartbeats.ts';

/**
 * The caller's end of a call. The only thing that touches the socket's answer: headers are written once, bytes go
 * out in order, and the last byte leaves only when `finish` is called, which the settle stage does after the record
 * is on disk.
 */
export interface ClientResponse {
  /** Headers have been sent; from here on errors are in-band. */
  readonly committed: boolean;
  /** The last byte was handed over, or the connection is gone. */
  readonly finished: boolean;
  /** Bytes that the client has not taken yet. */
  readonly bufferedBytes: number;
  /** Adds a header before commit; a later value replaces an earlier one. */
  setHeader(name: string, value: string): void;
  /** Sends status and headers. Streams also get the no-buffering headers and, after 10 s of silence, heartbeats. */
  commit(status: number, options: { stream: boolean; contentType: string; contentLength?: number }): void;
  /** Writes body bytes; false means that the client is behind: wait for `onDrain`. */
  write(chunk: Buffer): boolean;
  /** Called each time the client has caught up after a `false`. */
  onDrain(listener: () => void): void;
  /** Sends what is given, then ends. Resolves when the bytes left the process or the connection is gone. */
  finish(last?: Buffer): Promise<void>;
  /** Cuts the connection without a correct end (a reader that is too slow). */
  destroy(): void;
}

const BEAT: Record<Dialect, Buffer> = {
  openai: Buffer.from(': heartbeat\n\n'),
  anthropic: Buffer.from('event: ping\ndata: {"type": "ping"}\n\n'),
};

/** A whole body up to this size leaves together with its head. */
const JOIN_BYTES = 8 * 1024;
/** A larger one is handed over in parts of this size, so that it can be seen how fast it is taken. */
const PART_BYTES = 256 * 1024;
const CR = 0x0d;
const LF = 0x0a;

/** An unread body up to this size is read and dropped, so that the connection can go on; a larger one ends it. */
const DRAIN_BYTES = 64 * 1024;
/** How long a caller that still sends may take to read a refusal before its connection is cut. */
const LINGER_MS = 1_000;

export interface ClientResponseOptions {
  readonly dialect: Dialect;
  /** Absent for answers that never stream. */
  readonly heartbeats?: Heartbeats;
}

/** The answer of one `node:http` exchange. */
export function createClientResponse(
  res: ServerResponse,
  req: IncomingMessage,
  options: ClientResponseOptions,
): ClientResponse {
  return new NodeClientResponse(res, req, options);
}

const NOSNIFF = ['x-content-type-options', 'nosniff'];

/** A class, so that its functions are made once and not per call. */
class NodeClientResponse implements ClientResponse, SilentStream {
  readonly #res: ServerResponse;
  readonly #req: IncomingMessage;
  readonly #options: ClientResponseOptions;
  /** Name, value, name, value … as `writeHead` takes it. */
  readonly #headers: string[] = [...NOSNIFF];
  #streaming = false;
  /** The connection itself, once a stream may write to it past `node:http`. */
  #socket: Socket | undefined;
  #lingers = false;
  #ended = false;
  #wrote = false;
  /** Bytes of a large body that were not handed over yet. */
  #toSend = 0;
  /** The last four bytes written, to know whether an event ended there. */
  #tail = 0x0a0a;
  silentTicks = 0;

  constructor(res: ServerResponse, req: IncomingMessage, options: ClientResponseOptions) {
    this.#res = res;
    this.#req = req;
    this.#options = options;
  }

  get committed(): boolean {
    return this.#res.headersSent;
  }

  get finished(): boolean {
    return this.#ended || this.#res.destroyed;
  }

  get bufferedBytes(): number {
    return this.#res.writableLength + this.#toSend;
  }

  setHeader(name: string, value: string): void {
    const headers = this.#headers;
    for (let i = 0; i < headers.length; i += 2) {
      if (headers[i] === name) {
        headers[i + 1] = value;
        return;
      }
    }
    headers.push(name, value);
  }

  commit(
    status: number,
    { stream, contentType, contentLength }: { stream: boolean; contentType: string; contentLength?: number },
  ): void {
    const res = this.#res;
    if (res.headersSent || res.destroyed) return;
    this.setHeader('content-type', contentType);
    if (stream) {
      this.setHeader('cache-control', 'no-cache, no-transform');
      this.setHeader('x-accel-buffering', 'no');
    } else if (contentLength !== undefined) {
      this.setHeader('content-length', String(contentLength));
    }
    if (!this.#req.complete && !drainsSoon(this.#req)) {
      this.#lingers = true;
      this.setHeader('connection', 'close');
    }
    res.writeHead(status, this.#headers);
    if (!stream) return;
    this.#streaming = true;
    res.flushHeaders();
    // An answer that waits behind an earlier one on its connection has no socket yet; a client of HTTP/1.0 gets no
    // chunks.
    if (res.socket !== null && res.chunkedEncoding) this.#socket = res.socket;
    this.#options.heartbeats?.add(this);
    res.once('close', () => this.#options.heartbeats?.remove(this));
  }

  write(chunk: Buffer): boolean {
    if (this.#ended || this.#res.destroyed) return true;
    this.#wrote = true;
    if (this.#streaming) this.#noteTail(chunk);
    return this.#send(chunk);
  }

  onDrain(listener: () => void): void {
    const socket = this.#socket;
    if (socket === undefined) {
      this.#res.on('drain', listener);
      return;
    }
    socket.on('drain', listener);
    this.#res.once('close', () => socket.off('drain', listener));
  }

  /**
   * One chunk of a stream as one write to the connection. `node:http` would write its size, its bytes and its end
   * as three buffers, a tick later.
   */
  #send(chunk: Buffer): boolean {
    const socket = this.#socket;
    if (socket === undefined || socket.destroyed) return this.#res.write(chunk);
    if (chunk.length === 0) return true;
    const size = chunk.length.toString(16);
    const framed = Buffer.allocUnsafe(size.length + chunk.length + 4);
    framed.write(size, 0, 'latin1');
    framed[size.length] = CR;
    framed[size.length + 1] = LF;
    chunk.copy(framed, size.length + 2);
    framed[framed.length - 2] = CR;
    framed[framed.length - 1] = LF;
    return socket.write(framed);
  }

  finish(last?: Buffer): Promise<void> {
    const res = this.#res;
    if (this.#ended || res.destroyed) return Promise.resolve();
    this.#ended = true;
    if (this.#streaming) this.#options.heartbeats?.remove(this);
    if (this.#lingers) return this.#finishLingering(last);
    if (!this.#streaming && last !== undefined && last.length > PART_BYTES) return this.#finishInParts(last);
    return new Promise((resolve) => {
      res.on('finish', resolve);
      res.on('close', resolve);
      if (last === undefined) res.end();
      // As text in a one-byte encoding `node:http` joins a small body to its head: one write instead of a gathered one.
      else if (!this.#streaming && last.length <= JOIN_BYTES) res.end(last.toString('latin1'), 'latin1');
      else res.end(last);
    });
  }

  destroy(): void {
    this.#ended = true;
    this.#toSend = 0;
    if (this.#streaming) this.#options.heartbeats?.remove(this);
    this.#res.destroy();
  }

  takeSilence(): boolean {
    const silent = !this.#wrote;
    this.#wrote = false;
    return silent;
  }

  beat(): void {
    if (this.#ended || this.#res.destroyed || (this.#socket ?? this.#res).writableNeedDrain || !this.#atEventEnd())
      return;
    this.#send(BEAT[this.#options.dialect]);
  }

  #atEventEnd(): boolean {
    const tail = this.#tail;
    return (tail & 0xffff) === 0x0a0a || (tail & 0xffff) === 0x0d0d || tail === 0x0d0a0d0a;
  }

  #noteTail(chunk: Buffer): void {
    let tail = this.#tail;
    for (let i = Math.max(0, chunk.length - 4); i < chunk.length; i += 1)
      tail = ((tail << 8) | (chunk[i] as number)) >>> 0;
    this.#tail = tail;
  }

  /** The system says of what it was handed only when it has taken all of it: one part at a time, so. */
  #finishInParts(body: Buffer): Promise<void> {
    const res = this.#res;
    this.#toSend = body.length;
    return new Promise((resolve) => {
      const next = (): void => {
        let accepted = true;
        while (accepted && this.#toSend > 0 && !res.destroyed) {
          const from = body.length - this.#toSend;
          const part = body.subarray(from, from + PART_BYTES);
          this.#toSend -= part.length;
          if (this.#toSend === 0) res.end(part);
          else accepted = res.write(part);
        }
      };
      res.on('finish', resolve);
      res.on('close', resolve);
      res.on('drain', next);
      next();
    });
  }

  /**
   * The caller still sends a body that nobody will read. Closing at once would reset the connection before the refusal
   * was read, so the answer goes out whole, and the end waits until the caller stops, or for the linger time.
   */
  #finishLingering(last: Buffer | undefined): Promise<void> {
    const res = this.#res;
    const req = this.#req;
    return new Promise((resolve) => {
      const cut = (): void => {
        clearTimeout(timer);
        resolve();
        res.end();
      };
      const timer = setTimeout(cut, LINGER_MS);
      timer.unref();
      req.once('end', cut);
      res.once('close', cut);
      req.resume();
      if (last === undefined) resolve();
      else res.write(last, () => resolve());
    });
  }
}

/** True when what is left of the body is so little that reading it costs less than a new connection. */
function drainsSoon(req: IncomingMessage): boolean {
  const length = Number(req.headers['content-length'] ?? Number.NaN);
  return length <= DRAIN_BYTES && req.headers['transfer-encoding'] === undefined;
}
