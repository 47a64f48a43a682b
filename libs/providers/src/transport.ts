import { Readable } from 'node:stream';
import type { AnswerHeaders } from './answer-headers.ts';
import type { UpstreamFault, UpstreamRequest } from '@sluice/contracts';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { skipContinue } from './skip-continue.ts';

export interface TransportOptions {
  /** Timers of the connect deadline; the process's own unless given. */
  readonly timers?: { setTimeout(callback: () => void, delayMs: number): unknown; clearTimeout(timer: unknown): void };
  /** Idle connections are kept this long. */
  readonly keepAliveMs?: number;
  readonly maxHeaderBytes?: number;
}

/** What comes back of one request; exactly one of `onEnd` and `onError` is called, and nothing after it. */
export interface TransportHandlers {
  onHeaders(status: number, headers: AnswerHeaders): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(fault: UpstreamFault): void;
}

export interface TransportTimeouts {
  /** Until a connection stands, TLS included; a kept-alive one stands already. */
  readonly connectMs: number;
  /** Until the head of the answer. */
  readonly firstByteMs: number;
  /** Between two pieces of the body. */
  readonly idleMs: number;
}

export interface TransportCall {
  /** Closes the connection at once; no handler is called any more. */
  abort(): void;
  pause(): void;
  resume(): void;
}

/** Sends requests to providers over kept-alive connections. Never follows a redirect, never decompresses. */
export interface Transport {
  send(request: UpstreamRequest, handlers: TransportHandlers, timeouts: TransportTimeouts): TransportCall;
  close(): Promise<void>;
}

/** What a connection reads ahead while its answer is paused for a slow client; one read is 64 KiB all the same. */
const READ_AHEAD_BYTES = 16 * 1024;
/**
 * When an attempt at a connection is given up that no call waits for any more: the longest connect deadline of a
 * policy.
 */
const SOCKET_CONNECT_MS = 60_000;
/** `highWaterMark` is the socket's own option; undici passes it on without having it in its types. */
const CONNECT = { timeout: SOCKET_CONNECT_MS, highWaterMark: READ_AHEAD_BYTES };

const processTimers: NonNullable<TransportOptions['timers']> = {
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** A larger body is let go of when it is sent; undici keeps a buffer until the answer's end, and streams are long. */
const LARGE_BYTES = 16 * 1024;

/** A body of known length that holds its bytes no longer than until they are sent. */
function sentOnce(body: Buffer): Readable {
  const stream = new Readable({ read: () => undefined });
  stream.push(body);
  stream.push(null);
  return stream;
}

export function createTransport({
  timers = processTimers,
  keepAliveMs = 60_000,
  maxHeaderBytes = 64 * 1024,
}: TransportOptions = {}): Transport {
  const connect = buildConnector(CONNECT);
  const agent = new Agent({
    connect: (to, done) =>
      connect(to, (...[error, socket]) => (error === null ? done(null, skipContinue(socket)) : done(error, null))),
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: maxHeaderBytes,
    pipelining: 1,
  });
  return {
    send(request, handlers, timeouts) {
      const exchange = new Exchange(handlers, timers);
      agent.dispatch(
        {
          origin: request.origin,
          path: request.path,
          method: request.method,
          headers: request.headers,
          body: request.body.length > LARGE_BYTES ? sentOnce(request.body) : request.body,
          headersTimeout: timeouts.firstByteMs,
          bodyTimeout: timeouts.idleMs,
        },
        exchange,
      );
      exchange.awaitConnection(timeouts.connectMs);
      return exchange;
    },
    close: () => agent.destroy(),
  };
}

/** One request's handler; a class, so that its functions are made once. */
class Exchange implements Dispatcher.DispatchHandler, TransportCall {
  readonly #handlers: TransportHandlers;
  readonly #timers: NonNullable<TransportOptions['timers']>;
  #controller: Dispatcher.DispatchController | undefined;
  #connectTimer: unknown;
  #answered = false;
  #over = false;

  constructor(handlers: TransportHandlers, timers: NonNullable<TransportOptions['timers']>) {
    this.#handlers = handlers;
    this.#timers = timers;
  }

  /** Gives up unless the request is on a connection within this time. */
  awaitConnection(connectMs: number): void {
    if (this.#controller !== undefined || this.#over) return;
    this.#connectTimer = this.#timers.setTimeout(() => {
      this.#connectTimer = undefined;
      this.#fail({ kind: 'connect', deadline: 'connect', detail: `no connection within ${connectMs} ms` });
    }, connectMs);
  }

  abort(): void {
    if (this.#over) return;
    this.#end();
    this.#controller?.abort(new Error('given up'));
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#stopConnectTimer();
    if (this.#over) controller.abort(new Error('given up'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    // Slices of the first read of the socket, which they would keep in memory for as long as the stream runs.
    controller.rawHeaders = null;
    if (this.#over || status < 200) return;
    this.#answered = true;
    this.#handlers.onHeaders(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#over) this.#handlers.onData(chunk);
  }

  onResponseEnd(): void {
    if (this.#over) return;
    this.#end();
    this.#handlers.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(faultOfError(error, this.#answered));
  }

  #fail(fault: UpstreamFault): void {
    if (this.#over) return;
    this.#end();
    this.#handlers.onError(fault);
  }

  #end(): void {
    this.#over = true;
    this.#stopConnectTimer();
  }

  #stopConnectTimer(): void {
    if (this.#connectTimer === undefined) return;
    this.#timers.clearTimeout(this.#connectTimer);
    this.#connectTimer = undefined;
  }
}

/** Whose fault a broken connection is, by undici's and Node's codes. */
function faultOfError(error: Error & { code?: string }, answered: boolean): UpstreamFault {
  const code = error.code ?? '';
  const detail = describe(error);
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return { kind: 'timeout', deadline: 'first_byte', detail };
  if (code === 'UND_ERR_BODY_TIMEOUT') return { kind: 'timeout', deadline: 'idle', detail };
  if (
    code === 'UND_ERR_HEADERS_OVERFLOW' ||
    code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' ||
    code.startsWith('HPE_') ||
    error.name === 'HTTPParserError'
  )
    return { kind: 'malformed', detail };
  return { kind: answered ? 'truncated' : 'connect', detail };
}

function describe(error: Error & { code?: string }): string {
  return `${error.code ?? error.name}: ${error.message}`.slice(0, 300);
}
