import type { ServerResponse } from 'node:http';

export interface SseStream {
  /** Writes one event; `data` as JSON on one line. Does nothing once closed. */
  send(event: string, data: unknown): void;
  /** As `send` with JSON text that is made once for many streams. */
  sendJson(event: string, json: string): void;
  /** Writes a comment, which clients skip; keeps a connection alive. */
  comment(text: string): void;
  close(): void;
  /** Runs once, when either side ended the stream. */
  onClose(listener: () => void): void;
  readonly closed: boolean;
}

export interface SseOptions {
  /** A peer that takes nothing for this long is dropped. Default 10,000 ms. */
  stallMs?: number;
  /** A new event while more than this waits unread drops the peer. Default 1 MiB. One event may be larger. */
  maxBufferedBytes?: number;
}

/**
 * Starts a stream of server-sent events on a response. Memory stays bounded: a peer that does not read is dropped and
 * must connect again, so only send what a new connection can recover.
 */
export function sseStream(res: ServerResponse, { stallMs = 10_000, maxBufferedBytes = 1024 * 1024 }: SseOptions = {}): SseStream {
  let closed = false;
  let stall: NodeJS.Timeout | undefined;
  const listeners: (() => void)[] = [];

  function ended(): void {
    if (closed) return;
    closed = true;
    clearTimeout(stall);
    for (const listener of listeners) listener();
  }

  function write(text: string): void {
    if (closed) return;
    if (res.writableLength > maxBufferedBytes) {
      res.destroy();
      ended();
      return;
    }
    if (!res.write(text) && stall === undefined) stall = setTimeout(() => res.destroy(), stallMs).unref();
  }

  function sendJson(event: string, json: string): void {
    write(`event: ${event}\ndata: ${json}\n\n`);
  }

  res.on('drain', () => {
    clearTimeout(stall);
    stall = undefined;
  });
  res.on('close', ended);
  res.on('error', ended);
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' });
  res.flushHeaders();

  return {
    send: (event, data) => sendJson(event, JSON.stringify(data)),
    sendJson,
    comment: (text) => write(`: ${text.replace(/[\r\n]+/g, ' ')}\n\n`),
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
