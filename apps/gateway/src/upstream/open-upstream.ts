import { isFault, type StreamReader, type UpstreamFault, type WholeAnswer } from '@sluice/contracts';
import type { AnswerHeaders, TransportCall, TransportHandlers } from '@sluice/providers';
import { LARGE_BYTES } from '../bodies/body-job.ts';
import type { UpstreamCall } from './upstream-call.ts';
import type { OpenAnswer, StreamEnd, StreamOpenAnswer } from './open-answer.ts';

const MAX_WHOLE_BYTES = 32 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
const NO_BODY = Buffer.alloc(0);
const JSON_TYPE = 'application/json';

/** A fault before anything could reach the caller, or `cancelled` when the caller gave up first. */
export type FailedOpen = { readonly kind: 'failed'; readonly fault: UpstreamFault } | { readonly kind: 'cancelled' };

/**
 * Sends one attempt and waits until it is decided: a whole answer has been read, the first content of a stream has
 * come, or it failed. From then on a stream's buffers go straight to the sink that is attached.
 */
export function openUpstream(call: UpstreamCall): Promise<OpenAnswer | FailedOpen> {
  return new Promise((resolve) => new Exchange(call, resolve).start());
}

/**
 * What is being read. `whole` is the answer that was asked for; `error` an error's body; `not_a_stream` a JSON body
 * where a stream was asked for, most likely an error with a status of 200; `opaque` a body of which only the status
 * counts.
 */
type Reading = 'nothing' | 'whole' | 'error' | 'not_a_stream' | 'opaque' | 'stream';

const MAX_BYTES: Readonly<Record<Reading, number>> = {
  nothing: 0,
  whole: MAX_WHOLE_BYTES,
  error: MAX_ERROR_BYTES,
  not_a_stream: MAX_ERROR_BYTES,
  opaque: MAX_ERROR_BYTES,
  stream: Infinity,
};

/** One attempt on the wire; a class, so that its functions are made once and not per call. */
class Exchange implements TransportHandlers {
  /** What was asked. Forgotten when a stream has begun: it holds the request's body, and streams are long. */
  #call: UpstreamCall | undefined;
  readonly #onReleased: () => void;
  readonly #resolve: (result: OpenAnswer | FailedOpen) => void;
  #decided = false;
  #released = false;
  #wire: TransportCall | undefined;
  #status = 0;
  #headers: AnswerHeaders = {};
  #contentType = '';
  #reading: Reading = 'nothing';
  #reader: StreamReader | undefined;
  #chunks: Buffer[] = [];
  #size = 0;
  /** Its fault is filled in when there is one. */
  #stream: (Omit<StreamOpenAnswer, 'fault'> & { fault: UpstreamFault | undefined }) | undefined;
  #sink: Parameters<StreamOpenAnswer['attach']>[0] | undefined;
  #streamEnd: StreamEnd | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(call: UpstreamCall, resolve: (result: OpenAnswer | FailedOpen) => void) {
    this.#call = call;
    this.#onReleased = call.onReleased;
    this.#resolve = resolve;
  }

  start(): void {
    const { transport, request, cancel, connectMs, firstByteMs, idleMs } = this.#asked();
    this.#wire = transport.send(request, this, { connectMs, firstByteMs, idleMs });
    if (this.#released) return;
    this.#unsubscribe = cancel.onCancel(() => this.#cancelled());
    if (this.#released) this.#unsubscribe();
  }

  onHeaders(status: number, headers: AnswerHeaders): void {
    try {
      this.#readHead(status, headers);
    } catch (error) {
      this.#unreadable(error);
    }
  }

  onData(chunk: Buffer): void {
    try {
      if (this.#reader !== undefined) this.#readStream(this.#reader, chunk);
      else this.#collect(chunk);
    } catch (error) {
      this.#unreadable(error);
    }
  }

  onEnd(): void {
    try {
      this.#readEnd();
    } catch (error) {
      this.#unreadable(error);
    }
  }

  onError(fault: UpstreamFault): void {
    this.#fail(fault);
  }

  #asked(): UpstreamCall {
    return this.#call as UpstreamCall;
  }

  #readHead(status: number, headers: AnswerHeaders): void {
    const call = this.#asked();
    const contentType = String(headers['content-type'] ?? JSON_TYPE).toLowerCase();
    this.#status = status;
    this.#headers = headers;
    this.#contentType = contentType;
    call.onHeaders(headers);
    const encoding = headers['content-encoding'];
    const encoded = encoding !== undefined && encoding !== '' && String(encoding).toLowerCase() !== 'identity';
    if (status >= 400) {
      this.#reading = encoded ? 'opaque' : 'error';
    } else if (status < 200 || status >= 300) {
      this.#drop(`unexpected status ${status}`);
    } else if (encoded) {
      this.#drop(`the body is encoded as ${String(encoding).slice(0, 80)} although only identity was asked for`);
    } else if (!call.inbound.stream) {
      this.#reading = 'whole';
    } else if (contentType.startsWith('text/event-stream')) {
      this.#reader = call.adapter.createStreamReader(call.inbound, call.expectedInput);
      this.#reading = 'stream';
    } else if (contentType.startsWith(JSON_TYPE)) {
      this.#reading = 'not_a_stream';
    } else {
      this.#drop(notAStream(contentType));
    }
  }

  #collect(chunk: Buffer): void {
    const reading = this.#reading;
    this.#size += chunk.length;
    if (this.#size <= MAX_BYTES[reading]) {
      if (reading !== 'opaque') this.#chunks.push(chunk);
    } else if (reading === 'whole') {
      this.#drop(`the answer is larger than ${MAX_WHOLE_BYTES} bytes`);
    } else if (reading === 'not_a_stream') {
      this.#drop(notAStream(this.#contentType));
    } else if (reading !== 'nothing') {
      // Of an error, the beginning says enough.
      this.#chunks.push(chunk);
      this.#wire?.abort();
      this.#readEnd();
    }
  }

  #readStream(reader: StreamReader, chunk: Buffer): void {
    if (this.#streamEnd !== undefined) {
      // Nothing comes after the end marker; who sends on for ever is not listened to.
      this.#wire?.abort();
      return;
    }
    this.#forward(reader, reader.push(chunk));
  }

  /** What was read of a stream goes on; its end and its faults are noted. */
  #forward(reader: StreamReader, out: Buffer | undefined): void {
    if (reader.fault !== undefined && !reader.contentSeen) {
      this.#wire?.abort();
      this.#fail(reader.fault);
      return;
    }
    if (out !== undefined) {
      if (this.#sink !== undefined) this.#sink.onBytes(out);
      else this.#chunks.push(out);
    }
    if (!this.#decided && (reader.contentSeen || reader.ended)) this.#openStream(reader);
    if (reader.ended) {
      this.#release();
      this.#endStream({ kind: 'end' });
    } else if (reader.fault !== undefined) {
      this.#wire?.abort();
      this.#release();
      this.#endStream({ kind: 'fault', fault: reader.fault });
    }
  }

  #readEnd(): void {
    const status = this.#status;
    if (this.#reader !== undefined) {
      const reader = this.#reader;
      if (this.#streamEnd === undefined) this.#forward(reader, reader.end());
      if (!reader.ended && reader.fault === undefined)
        this.#fail({ kind: 'truncated', status, detail: 'the stream ended before the answer was complete' });
      return;
    }
    this.#release();
    if (this.#decided) return;
    const { adapter, inbound, expectedInput } = this.#asked();
    const body = this.#body();
    switch (this.#reading) {
      case 'error':
      case 'opaque':
        this.#fail(adapter.classify(status, this.#headers, body, inbound));
        return;
      case 'not_a_stream': {
        const parsed = adapter.readWhole(inbound, body, expectedInput);
        this.#fail(
          isFault(parsed) && parsed.kind !== 'malformed'
            ? parsed
            : { kind: 'malformed', status, detail: notAStream(this.#contentType) },
        );
        return;
      }
      default: {
        if (body.length > LARGE_BYTES) void this.#readLarge(body);
        else this.#decideWhole(adapter.readWhole(inbound, body, expectedInput), body);
      }
    }
  }

  async #readLarge(body: Buffer): Promise<void> {
    try {
      const { readLarge } = this.#asked();
      if (readLarge === undefined) throw new RangeError(`larger than ${LARGE_BYTES} bytes`);
      const read = await readLarge(body);
      if (read === 'cancelled') this.#decide({ kind: 'cancelled' });
      else this.#decideWhole(read.parsed, read.body);
    } catch (error) {
      this.#unreadable(error);
    }
  }

  #decideWhole(parsed: WholeAnswer | UpstreamFault, body: Buffer): void {
    if (isFault(parsed)) {
      this.#fail(parsed);
      return;
    }
    const { attempt, attemptIndex } = this.#asked();
    this.#decide({
      kind: 'whole',
      attempt,
      attemptIndex,
      status: this.#status,
      body: parsed.body ?? body,
      // It was read as JSON, whatever it was called; a browser must not read it as a page.
      contentType: JSON_TYPE,
      parsed,
    });
  }

  #body(): Buffer {
    const chunks = this.#chunks;
    const bytes = this.#reading === 'error' ? Math.min(this.#size, MAX_ERROR_BYTES) : undefined;
    if (chunks.length === 0) return NO_BODY;
    return chunks.length === 1 ? (chunks[0] as Buffer).subarray(0, bytes) : Buffer.concat(chunks, bytes);
  }

  #openStream(reader: StreamReader): void {
    const { attempt, attemptIndex } = this.#asked();
    this.#call = undefined;
    this.#stream = {
      kind: 'stream',
      attempt,
      attemptIndex,
      status: this.#status,
      contentType: this.#contentType,
      reader,
      fault: undefined,
      attach: (sink) => this.#attach(sink),
      pause: () => this.#wire?.pause(),
      resume: () => this.#wire?.resume(),
      abort: () => {
        this.#wire?.abort();
        this.#release();
      },
    };
    this.#decide(this.#stream);
  }

  #attach(sink: Parameters<StreamOpenAnswer['attach']>[0]): void {
    this.#sink = sink;
    const waiting = this.#chunks;
    this.#chunks = [];
    for (const buffer of waiting) sink.onBytes(buffer);
    if (this.#streamEnd !== undefined) sink.onEnd(this.#streamEnd);
  }

  #cancelled(): void {
    if (this.#decided) return;
    this.#wire?.abort();
    this.#release();
    this.#decide({ kind: 'cancelled' });
  }

  /**
   * An adapter that throws has met an answer that it cannot read; undici would swallow the error, and the call
   * would hang.
   */
  #unreadable(error: unknown): void {
    this.#drop(`unreadable answer: ${error instanceof Error ? error.message : 'unknown'}`);
  }

  /** Gives up on the connection: what it still sends does not matter. */
  #drop(detail: string): void {
    this.#wire?.abort();
    this.#fail({ kind: 'malformed', status: this.#status, detail });
  }

  #fail(fault: UpstreamFault): void {
    this.#release();
    if (this.#decided) this.#endStream({ kind: 'fault', fault });
    else this.#decide({ kind: 'failed', fault });
  }

  #endStream(end: StreamEnd): void {
    if (this.#streamEnd !== undefined) return;
    this.#streamEnd = end;
    if (end.kind === 'fault' && this.#stream !== undefined) this.#stream.fault = end.fault;
    this.#sink?.onEnd(end);
  }

  #decide(result: OpenAnswer | FailedOpen): void {
    if (this.#decided) return;
    this.#decided = true;
    this.#resolve(result);
  }

  #release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#unsubscribe?.();
    this.#onReleased();
  }
}

function notAStream(contentType: string): string {
  return `a stream was asked for, ${contentType.slice(0, 80)} came`;
}
