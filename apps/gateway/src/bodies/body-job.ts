import type {
  InboundCall,
  LargeBody,
  ObjectIndex,
  Operation,
  ProviderDialect,
  Refusal,
  UpstreamFault,
  UpstreamTarget,
  WholeAnswer,
  WrittenBody,
} from '@sluice/contracts';

/** Bodies above this are read, translated and written by workers; up to it on the event loop, in less than 5 ms. */
export const LARGE_BYTES = 64 * 1024;

/** Work on bytes that are too many for the event loop. */
export type BodyJob =
  | {
      /** A request's body: is it valid, and what does the path have to know of it? */
      readonly kind: 'read';
      readonly operation: Operation;
      readonly acrossDialects: InboundCall['acrossDialects'];
      /** The other dialects that the chain speaks: can it be carried there? */
      readonly dialects: readonly { readonly dialect: ProviderDialect; readonly carryFields: readonly string[] }[];
    }
  | {
      /** A request that is sent in another dialect. */
      readonly kind: 'translate';
      readonly call: JobCall;
      /** Without its secret: a worker writes bodies, not headers. */
      readonly target: Omit<UpstreamTarget, 'secret'>;
    }
  | {
      /** A provider's whole answer. */
      readonly kind: 'answer';
      readonly call: JobCall;
      readonly dialect: ProviderDialect;
      /** Tokens, for an answer that is translated and counts nothing. */
      readonly expectedInput?: number;
    };

/** What of a call a worker has to know beside its bytes. */
export type JobCall = Pick<InboundCall, 'operation' | 'stream' | 'wantsUsage' | 'acrossDialects'>;

/** What a job comes to. */
export interface BodyResults {
  readonly read: Refusal | ReadBody;
  readonly translate: Refusal | WrittenBody;
  readonly answer: WholeAnswer | UpstreamFault;
}

/** A request's body as far as the event loop knows it. */
export interface ReadBody {
  /** The small members that the path reads. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly index: ObjectIndex;
  readonly weighedBytes: number;
  readonly large: LargeBody;
}
