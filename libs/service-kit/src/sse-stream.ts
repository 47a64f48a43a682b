import type { ServerResponse } from 'node:http';

export interface SseStream {
  /** Writes one event; `data` as JSON on one line. Does nothing once closed. */
  send(event: string, data: unknown): void;
  /** As `send` with JSON text that is made once for many streams. */
  sendJson(event: string, json: string): void;
  /**
   * As `send` with bytes of `sseFrame` that many streams share: large ones are in memory once, whoever reads
   * slowly.
   */
  sendFrame(frame: Buffer): void;
  /** Writes a comment, which clients skip; keeps a connection alive. */
  comment(text: string): void;
  close(): void;
  /** Runs once, when either side ended the stream. */
  onClose(listener: () => void): void;
  readonly closed: boolean;
}

export interface SseOptions {
  /** A peer that takes nothing (not one piece of 64 KiB) for this long is dropped. Default 10,000 ms. */
  stallMs?: number;
  /** A new event while more than this waits behind the one that is being sent drops the peer. Default 1 MiB. */
  maxBufferedBytes?: number;
}

/** What is handed to the connection at once, so that a slow peer holds no more than this of a large event. */
const PIECE_BYTES = 64 * 1024;

/** One event as it goes over the wire. */
export function sseFrame(event: string, json: string): Buffer {
  return Buffer.from(`event: ${event}\ndata: ${json}\n\n`);
}

/**
 * Starts a stream of server-sent events on a response. Memory stays bounded: a peer that does not read is dropped
 * and must connect again, so only send what a new connection can recover. One event may be larger than the bound:
 * it is sent piece by piece, and a peer that takes it slowly, but takes it, is not dropped.
 */
export function sseStream(
  res: ServerResponse,
  { stallMs = 10_000, maxBufferedBytes = 1024 * 1024 }: SseOptions = {},
): SseStream {
  let closed = false;
  let stall: NodeJS.Timeout | undefined;
  /** Events in the order of their sending; of the first one `sentBytes` are with the connection already. */
  const queue: Buffer[] = [];
  let sentBytes = 0;
  let waitingBytes = 0;
  const listeners: (() => void)[] = [];

  function ended(): void {
    if (closed) return;
    closed = true;
    clearTimeout(stall);
    queue.length = 0;
    for (const listener of listeners) listener();
  }

  function sendFrame(frame: Buffer): void {
    if (closed) return;
    if (waitingBytes > maxBufferedBytes) {
      res.destroy();
      ended();
      return;
    }
    if (queue.length > 0) waitingBytes += frame.length;
    queue.push(frame);
    if (stall === undefined) pump();
  }

  /** Hands pieces to the connection until it has enough. */
  function pump(): void {
    for (let head = queue[0]; head !== undefined && !closed; head = queue[0]) {
      const piece =
        sentBytes === 0 && head.length <= PIECE_BYTES ? head : head.subarray(sentBytes, sentBytes + PIECE_BYTES);
      sentBytes += piece.length;
      if (sentBytes >= head.length) {
        queue.shift();
        sentBytes = 0;
        waitingBytes -= queue[0]?.length ?? 0;
      }
      if (!res.write(piece)) {
        stall = setTimeout(() => res.destroy(), stallMs).unref();
        return;
      }
    }
  }

  res.on('drain', () => {
    clearTimeout(stall);
    stall = undefined;
    pump();
  });
  res.on('close', ended);
  res.on('error', ended);
  res.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
  });
  res.flushHeaders();

  return {
    send: (event, data) => sendFrame(sseFrame(event, JSON.stringify(data))),
    sendJson: (event, json) => sendFrame(sseFrame(event, json)),
    sendFrame,
    comment: (text) => sendFrame(Buffer.from(`: ${text.replace(/[\r\n]+/g, ' ')}\n\n`)),
    close() {
      if (closed) return;
      ended();
      res.end();
    },
    onClose(listener) {
      if (closed) listener();
      else listeners.push(listener);
    },
    get closed() {
      return closed;
    },
  };
}
