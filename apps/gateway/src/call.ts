import type { IncomingMessage } from 'node:http';
import type {
  AbortCase,
  AdmissionLease,
  AttemptPlan,
  CallAttempt,
  Dialect,
  InboundCall,
  LimitsView,
  Model,
  Operation,
  Outcome,
  Price,
  Refusal,
  Reservation,
  TokenUsage,
  UsageSource,
} from '@sluice/contracts';
import type { BreakerPass } from '@sluice/resilience';
import type { CancelToken } from './cancel-token.ts';
import type { ClientResponse } from './http/client-response.ts';
import type { CompiledConfig, CompiledKey } from './compiled-config.ts';
import type { OpenAnswer } from './upstream/open-answer.ts';

/** What the body asks for, after aliases, pins, permissions and kill switches. */
export interface Resolved {
  readonly inbound: InboundCall;
  /** As the caller wrote it. */
  readonly modelRequested: string;
  /** Candidate catalogue models in order of preference: the feature's model before the one that was asked for. */
  readonly candidates: readonly [Model, ...Model[]];
  /** The caller named a provider's own model or a pin: nothing may be substituted. */
  readonly pinned: boolean;
  readonly feature: string | undefined;
  readonly tags: Readonly<Record<string, string>>;
  readonly endUser: string | undefined;
  /** Upper bound of the output from the body (`max_tokens`), or undefined. */
  readonly maxOutputTokens: number | undefined;
  /** Choices asked for (`n`). */
  readonly choices: number;
  /** Billed price of the first candidate, or the policy's stated default. */
  readonly billedPrice: Price;
  readonly priceVersion: number;
  /** Where the call may go by rule: entries that can carry it, in order. */
  readonly plan: AttemptPlan;
}

/** What decides where a call may go. */
export type Wanted = Pick<Resolved, 'inbound' | 'candidates' | 'pinned' | 'feature'>;

/** Durations of a call, milliseconds on the monotonic clock. */
export interface CallTiming {
  readonly startedAt: number;
  /** Time spent waiting for provider capacity. */
  queueMs: number;
  /** Time spent with the provider before its first byte, over all attempts; not ours. */
  upstreamWaitMs: number;
  /** Until the client got the body to the last byte; not ours either. */
  bodyReadMs: number;
  firstByteAt: number | undefined;
}

/** What is billed and recorded at the end. */
export interface CallFigures {
  outcome: Outcome;
  abortCase: AbortCase;
  usage: TokenUsage;
  usageSource: UsageSource;
  costNanoUsd: number;
  billedNanoUsd: number;
  finishReason: string | undefined;
}

/**
 * One call on its way through the pipeline. Each stage fills in its part; a part is only read by later stages. The stage
 * that fills a field is named beside it.
 */
export interface Call {
  // envelope
  readonly id: string;
  readonly startedAtMs: number;
  readonly clientRequestId: string | undefined;
  readonly traceparent: string;
  readonly dialect: Dialect;
  readonly operation: Operation;
  readonly request: IncomingMessage;
  readonly response: ClientResponse;
  readonly cancel: CancelToken;
  readonly timing: CallTiming;
  /** The configuration that was in force when the call came; the whole call is judged by it. */
  readonly config: CompiledConfig;
  // authenticate
  key: CompiledKey | undefined;
  // read body
  body: Buffer | undefined;
  json: Record<string, unknown> | undefined;
  // resolve
  resolved: Resolved | undefined;
  // admit
  reservation: Reservation | undefined;
  lease: AdmissionLease | undefined;
  view: LimitsView | undefined;
  // route
  plan: AttemptPlan | undefined;
  // attempt
  started: boolean;
  readonly attempts: CallAttempt[];
  fallbackReason: string | undefined;
  answer: OpenAnswer | undefined;
  /** Verdict on the provider that answers, owed until the answer's end. */
  verdict: BreakerPass | undefined;
  /** Timers of the attempt stage, stopped by settle. */
  stopTimers: (() => void) | undefined;
  // relay, settle
  /** The last bytes of a stream, with its end marker: sent only after the record is on disk. */
  tail: Buffer | undefined;
  /** The relay ended the stream because a hard quota ran out in its middle. */
  stoppedByQuota: boolean;
  refusal: Refusal | undefined;
  /** Bytes of an upstream's own error body that pass to the caller instead of a rendered refusal. */
  passThrough: { readonly status: number; readonly body: Buffer; readonly contentType: string } | undefined;
  figures: CallFigures | undefined;
}
