import type { FaultKind, UpstreamFault, UpstreamRequest } from '@sluice/contracts';
import { Agent, type Dispatcher } from 'undici';

export interface TransportOptions {
  readonly connectTimeoutMs: number;
  /** Idle connections are kept this long. */
  readonly keepAliveMs?: number;
  readonly maxHeaderBytes?: number;
}

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** What comes back of one request; exactly one of `onEnd` and `onError` is called, and nothing after it. */
export interface TransportHandlers {
  onHeaders(status: number, headers: AnswerHeaders): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(fault: UpstreamFault): void;
}

export interface TransportTimeouts {
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

export function createTransport({ connectTimeoutMs, keepAliveMs = 60_000, maxHeaderBytes = 64 * 1024 }: TransportOptions): Transport {
  const agent = new Agent({ connect: { timeout: connectTimeoutMs }, keepAliveTimeout: keepAliveMs, maxHeaderSize: maxHeaderBytes, pipelining: 1 });
  return {
    send(request, handlers, timeouts) {
      const exchange = new Exchange(handlers);
      agent.dispatch(
        {
          origin: request.origin,
          path: request.path,
          method: request.method,
          headers: request.headers,
          body: request.body,
          headersTimeout: timeouts.firstByteMs,
          bodyTimeout: timeouts.idleMs,
        },
        exchange,
      );
      return exchange;
    },
    close: () => agent.destroy(),
  };
}

/** One request's handler; a class, so that its functions are made once. */
class Exchange implements Dispatcher.DispatchHandler, TransportCall {
  readonly #handlers: TransportHandlers;
  #controller: Dispatcher.DispatchController | undefined;
  #answered = false;
  #over = false;

  constructor(handlers: TransportHandlers) {
    this.#handlers = handlers;
  }

  abort(): void {
    if (this.#over) return;
    this.#over = true;
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
    if (this.#over) controller.abort(new Error('given up'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    if (this.#over || status < 200) return;
    this.#answered = true;
    this.#handlers.onHeaders(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#over) this.#handlers.onData(chunk);
  }

  onResponseEnd(): void {
    if (this.#over) return;
    this.#over = true;
    this.#handlers.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#handlers.onError({ kind: kindOfError(error, this.#answered), detail: describe(error) });
  }
}

/** Whose fault a broken connection is, by undici's and Node's codes. */
function kindOfError(error: Error & { code?: string }, answered: boolean): FaultKind {
  const code = error.code ?? '';
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return 'timeout';
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code.startsWith('HPE_') || error.name === 'HTTPParserError') return 'malformed';
  return answered ? 'truncated' : 'connect';
}

function describe(error: Error & { code?: string }): string {
  return `${error.code ?? error.name}: ${error.message}`.slice(0, 300);
}
