import {
  isFault,
  type InboundCall,
  type PlannedAttempt,
  type ProviderAdapter,
  type StreamReader,
  type UpstreamFault,
  type UpstreamRequest,
  type WholeAnswer,
} from '@sluice/contracts';
import type { Transport, TransportCall } from '@sluice/providers';
import type { CancelToken } from '../cancel-token.ts';
import type { OpenAnswer, StreamEnd } from './open-answer.ts';

const MAX_WHOLE_BYTES = 32 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;

export interface UpstreamCall {
  readonly transport: Transport;
  readonly adapter: ProviderAdapter;
  readonly request: UpstreamRequest;
  readonly inbound: InboundCall;
  readonly attempt: PlannedAttempt;
  readonly attemptIndex: number;
  readonly cancel: CancelToken;
  readonly firstByteMs: number;
  readonly idleMs: number;
  /** The provider is done with the call: its slot is free. Called exactly once, before or after the promise settles. */
  onReleased(): void;
  /** The first byte of the answer's head has come. */
  onHeaders(): void;
}

/** A fault before anything could reach the caller, or `cancelled` when the caller gave up first. */
export type FailedOpen = { readonly kind: 'failed'; readonly fault: UpstreamFault } | { readonly kind: 'cancelled' };

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Sends one attempt and waits until it is decided: a whole answer has been read, the first content of a stream has come,
 * or it failed. From then on a stream's buffers go straight to the sink that is attached.
 */
export function openUpstream(call: UpstreamCall): Promise<OpenAnswer | FailedOpen> {
  return new Promise((resolve) => {
    const exchange = createExchange(call, resolve);
    exchange.start();
  });
}

function createExchange(call: UpstreamCall, resolve: (result: OpenAnswer | FailedOpen) => void) {
  let decided = false;
  let released = false;
  let wire: TransportCall | undefined;
  let status = 0;
  let headers: Headers = {};
  let contentType = '';
  let reader: StreamReader | undefined;
  let chunks: Buffer[] = [];
  let size = 0;
  let sink: { onBytes(chunk: Buffer): void; onEnd(end: StreamEnd): void } | undefined;
  let streamEnd: StreamEnd | undefined;
  let unsubscribe: () => void = () => undefined;

  const release = (): void => {
    if (released) return;
    released = true;
    unsubscribe();
    call.onReleased();
  };

  const decide = (result: OpenAnswer | FailedOpen): void => {
    if (decided) return;
    decided = true;
    resolve(result);
  };

  const fail = (fault: UpstreamFault): void => {
    release();
    if (decided) endStream({ kind: 'fault', fault });
    else decide({ kind: 'failed', fault });
  };

  const endStream = (end: StreamEnd): void => {
    if (streamEnd !== undefined) return;
    streamEnd = end;
    sink?.onEnd(end);
  };

  /** Gives up on the connection: what it still sends does not matter. */
  const drop = (fault: UpstreamFault): void => {
    wire?.abort();
    fail(fault);
  };

  /** An adapter that throws has met an answer that it cannot read; undici would swallow the error, and the call would hang. */
  const guarded = (read: () => void): void => {
    try {
      read();
    } catch (error) {
      drop({ kind: 'malformed', status, detail: `unreadable answer: ${error instanceof Error ? error.message : 'unknown'}` });
    }
  };

  const onData = (chunk: Buffer): void => {
    if (streamEnd !== undefined) {
      // Nothing comes after the end marker; who sends on for ever is not listened to.
      wire?.abort();
      return;
    }
    if (reader !== undefined) {
      onStreamData(reader, chunk);
      return;
    }
    size += chunk.length;
    if (status >= 400) {
      chunks.push(chunk);
      if (size > MAX_ERROR_BYTES) {
        wire?.abort();
        onEnd();
      }
      return;
    }
    if (size > MAX_WHOLE_BYTES) {
      drop({ kind: 'malformed', status, detail: `the answer is larger than ${MAX_WHOLE_BYTES} bytes` });
      return;
    }
    chunks.push(chunk);
  };

  const onStreamData = (streamReader: StreamReader, chunk: Buffer): void => {
    const out = streamReader.push(chunk);
    if (streamReader.fault !== undefined && !streamReader.contentSeen) {
      drop(streamReader.fault);
      return;
    }
    if (out !== undefined) {
      if (sink !== undefined) sink.onBytes(out);
      else chunks.push(out);
    }
    if (!decided && (streamReader.contentSeen || streamReader.ended)) openStream(streamReader);
    if (streamReader.ended) {
      release();
      endStream({ kind: 'end' });
    } else if (streamReader.fault !== undefined) {
      wire?.abort();
      release();
      endStream({ kind: 'fault', fault: streamReader.fault });
    }
  };

  const openStream = (streamReader: StreamReader): void => {
    decide({
      kind: 'stream',
      attempt: call.attempt,
      attemptIndex: call.attemptIndex,
      status,
      contentType,
      reader: streamReader,
      get fault() {
        return streamEnd?.kind === 'fault' ? streamEnd.fault : undefined;
      },
      attach(next) {
        sink = next;
        const waiting = chunks;
        chunks = [];
        for (const buffer of waiting) next.onBytes(buffer);
        if (streamEnd !== undefined) next.onEnd(streamEnd);
      },
      pause: () => wire?.pause(),
      resume: () => wire?.resume(),
      abort() {
        wire?.abort();
        release();
      },
    });
  };

  const onEnd = (): void => {
    if (reader !== undefined) {
      if (reader.ended) {
        release();
        endStream({ kind: 'end' });
        return;
      }
      fail(reader.fault ?? { kind: 'truncated', status, detail: 'the stream ended without its end marker' });
      return;
    }
    release();
    if (decided) return;
    const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, status >= 400 ? Math.min(size, MAX_ERROR_BYTES) : size);
    if (status >= 400) {
      decide({ kind: 'failed', fault: call.adapter.classify(status, headers, body, call.inbound) });
      return;
    }
    const parsed: WholeAnswer | UpstreamFault = call.adapter.readWhole(call.inbound, body);
    if (isFault(parsed)) decide({ kind: 'failed', fault: parsed });
    else decide({ kind: 'whole', attempt: call.attempt, attemptIndex: call.attemptIndex, status, body: parsed.body ?? body, contentType, parsed });
  };

  const onHeaders = (answerStatus: number, answerHeaders: Headers): void => {
    status = answerStatus;
    headers = answerHeaders;
    call.onHeaders();
    contentType = String(answerHeaders['content-type'] ?? 'application/json');
    if (status === 200 && call.inbound.stream) {
      if (!contentType.startsWith('text/event-stream')) {
        drop({ kind: 'malformed', status, detail: `a stream was asked for, ${contentType.slice(0, 80)} came` });
        return;
      }
      reader = call.adapter.createStreamReader(call.inbound);
      return;
    }
    if (status !== 200 && status < 400) drop({ kind: 'malformed', status, detail: `unexpected status ${status}` });
  };

  return {
    start(): void {
      wire = call.transport.send(
        call.request,
        {
          onHeaders: (answerStatus, answerHeaders) => guarded(() => onHeaders(answerStatus, answerHeaders)),
          onData: (chunk) => guarded(() => onData(chunk)),
          onEnd: () => guarded(onEnd),
          onError: fail,
        },
        { firstByteMs: call.firstByteMs, idleMs: call.idleMs },
      );
      unsubscribe = call.cancel.onCancel(() => {
        if (decided) return;
        wire?.abort();
        release();
        decide({ kind: 'cancelled' });
      });
      if (released) unsubscribe();
    },
  };
}
