import type {
  ExpectedInput,
  InboundCall,
  PlannedAttempt,
  ProviderAdapter,
  UpstreamFault,
  UpstreamRequest,
  WholeAnswer,
} from '@sluice/contracts';
import type { AnswerHeaders, Transport } from '@sluice/providers';
import type { CancelToken } from '../cancel-token.ts';

/** A large answer with its bytes, which were elsewhere meanwhile; or its call was given up. */
export type LargeAnswer = { readonly parsed: WholeAnswer | UpstreamFault; readonly body: Buffer } | 'cancelled';

/** One attempt to be sent, and whom to tell of it. */
export interface UpstreamCall {
  readonly transport: Transport;
  readonly adapter: ProviderAdapter;
  readonly request: UpstreamRequest;
  readonly inbound: InboundCall;
  /** Undefined for a call whose answer nobody reads, such as a probe. */
  readonly expectedInput?: ExpectedInput;
  readonly attempt: PlannedAttempt;
  readonly attemptIndex: number;
  readonly cancel: CancelToken;
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly idleMs: number;
  /** Reads a whole answer that is too large for the event loop; without it such an answer is a fault. */
  readonly readLarge?: (body: Buffer) => Promise<LargeAnswer>;
  /** The provider is done with the call: its slot is free. Called exactly once, before or after the promise settles. */
  readonly onReleased: () => void;
  /** The answer's head has come. */
  onHeaders(headers: AnswerHeaders): void;
}
