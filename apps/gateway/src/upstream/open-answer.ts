import type { PlannedAttempt, StreamReader, UpstreamFault, WholeAnswer } from '@sluice/contracts';

/** An upstream answer that will be the caller's: a whole body, or a stream whose first content has arrived. */
export type OpenAnswer = WholeOpenAnswer | StreamOpenAnswer;

interface AnswerCommon {
  readonly attempt: PlannedAttempt;
  /** Index into `Call.attempts` of the attempt that answers. */
  readonly attemptIndex: number;
  readonly status: number;
}

export interface WholeOpenAnswer extends AnswerCommon {
  readonly kind: 'whole';
  readonly body: Buffer;
  readonly contentType: string;
  readonly parsed: WholeAnswer;
}

/** How an upstream stream ended. */
export type StreamEnd = { readonly kind: 'end' } | { readonly kind: 'fault'; readonly fault: UpstreamFault };

export interface StreamOpenAnswer extends AnswerCommon {
  readonly kind: 'stream';
  readonly contentType: string;
  readonly reader: StreamReader;
  /** What ended the stream before its own end; undefined while it runs and after a good end. */
  readonly fault: UpstreamFault | undefined;
  /** Hands over what has arrived and then each buffer in the tick it comes; `onEnd` is called exactly once. */
  attach(sink: { onBytes(chunk: Buffer): void; onEnd(end: StreamEnd): void }): void;
  pause(): void;
  resume(): void;
  /** Closes the connection to the provider at once. */
  abort(): void;
}
