import type { IncomingMessage } from 'node:http';
import type {
  AbortCase,
  AdmissionLease,
  AttemptPlan,
  CallAttempt,
  CallSettled,
  Dialect,
  BodyPayloads,
  InboundCall,
  LargeBody,
  LimitsView,
  Model,
  ObjectIndex,
  Operation,
  Outcome,
  Price,
  Refusal,
  Reservation,
  ServedUse,
  TokenUsage,
  UsageSource,
} from '@sluice/contracts';
import type { GateUse } from '@sluice/limits';
import type { BreakerPass } from '@sluice/resilience';
import type { CancelToken } from './cancel-token.ts';
import type { ClientResponse } from './http/client-response.ts';
import type { CompiledConfig, CompiledKey } from './compiled-config.ts';
import type { AccountInUse } from './upstream/account-in-use.ts';
import type { CutReason } from './http/cut-reason.ts';
import type { OpenAnswer } from './upstream/open-answer.ts';

/** One model that may answer a call which leaves the choice to us. */
export interface OpenCandidate {
  readonly model: Model;
  readonly billedPrice: Price;
  /** Where the call may go with this model, by rule. */
  readonly plan: AttemptPlan;
}

/**
 * Whether and how the model of a call was chosen. `open`: the route stage chooses among the candidates, the default
 * first. `made`: the learned policy would choose, but a pin or a rule of the workspace came before it.
 */
export type ModelChoice =
  | {
      readonly kind: 'open';
      readonly candidates: readonly [OpenCandidate, ...OpenCandidate[]];
      /** Models that the key may use, and why not for this call. */
      readonly excluded: readonly ExcludedCandidate[];
      /** Expected cost at each candidate, nanodollars; filled by admit. */
      readonly costs: number[];
    }
  | { readonly kind: 'made'; readonly by: 'pin' | 'rule' };

export interface ExcludedCandidate {
  readonly model: Model;
  /** For people; says nothing of the call's content. */
  readonly why: string;
}

/** What the body asks for, after aliases, pins, permissions and kill switches. */
export interface Resolved {
  /** Once a stream runs, without a body that was large. */
  readonly inbound: InboundCall;
  /** Of the request as it came. */
  readonly bodyBytes: number;
  /** The same with each `\uXXXX` as two bytes. */
  readonly weighedBytes: number;
  /** Images, audio and files in it; not looked for in a small body. */
  readonly payloads: BodyPayloads;
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
  /** What of the request has a price of its own, such as a service tier; undefined for an ordinary call. */
  readonly askedUse: ServedUse | undefined;
  /** Billed price of the first candidate, or the policy's stated default. */
  readonly billedPrice: Price;
  readonly priceVersion: number;
  /** Where the call may go by rule: entries that can carry it, in order. Of an open choice, the default's. */
  readonly plan: AttemptPlan;
  /** Undefined for a call whose model is what the caller named: the learned policy has nothing to do with it. */
  readonly choice: ModelChoice | undefined;
}

/** What decides where a call may go. */
export type Wanted = Pick<Resolved, 'inbound' | 'candidates' | 'pinned' | 'feature'>;

/** The decision about a call's model, and what a policy in its shadow stage would have decided. */
export type RoutedCall = Pick<CallSettled, 'decision' | 'shadow'>;

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
  /** What was served without a price, and whose price lacks it; empty for nearly every call. */
  unpriced: readonly Unpriced[];
}

export interface Unpriced {
  readonly what: string;
  /** `the plan's price of <model>`, or an offer. */
  readonly of: string;
}

/**
 * One call on its way through the pipeline. Each stage fills in its part; a part is only read by later stages. The
 * stage that fills a field is named beside it.
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
  /** The parsed body; of a large one its small members. */
  json: Readonly<Record<string, unknown>> | undefined;
  /** Where the members stand that may be replaced. */
  bodyIndex: ObjectIndex | undefined;
  /** Length with each `\uXXXX` as two bytes. */
  weighedBytes: number;
  /** What a worker found out of a large body. */
  largeBody: LargeBody | undefined;
  /** Gives back what the body took of the memory for bodies; for whoever needs it no longer, settle at the latest. */
  freeBody: (() => void) | undefined;
  // resolve
  resolved: Resolved | undefined;
  // admit
  reservation: Reservation | undefined;
  lease: AdmissionLease | undefined;
  view: LimitsView | undefined;
  // route
  plan: AttemptPlan | undefined;
  /** How the model was chosen, as it is recorded; undefined for a call whose model was given. */
  routed: RoutedCall | undefined;
  /** Near the end of a money quota another model or a lower quality was taken. */
  downgraded: boolean;
  /** Paths of request fields that the provider's dialect had no place for, by the last attempt. */
  dropped?: readonly string[] | undefined;
  // attempt
  started: boolean;
  readonly attempts: CallAttempt[];
  fallbackReason: string | undefined;
  answer: OpenAnswer | undefined;
  /**
   * A call was with a provider when the caller left, or when a deadline passed that the caller or its workspace had
   * set: the provider charges its input, whoever waits for the answer.
   */
  givenUp: boolean;
  /** What the last attempt took of its account's rate, where that has one. */
  rateUse: GateUse | undefined;
  /** Verdict on the provider that answers, owed until the answer's end. */
  verdict: BreakerPass | undefined;
  /** The account of the provider that answers. */
  account: Pick<AccountInUse, 'capacity' | 'use'> | undefined;
  /** Timers of the attempt stage, stopped by settle. */
  stopTimers: (() => void) | undefined;
  // relay, settle
  /** What is still known of a body that was forgotten when its stream began. */
  forgotten: { readonly textTokens: number; readonly isOpaque: boolean } | undefined;
  /** The last bytes of a stream, with its end marker: sent only after the record is on disk. */
  tail: Buffer | undefined;
  /** The relay ended the stream because a hard quota ran out in its middle. */
  stoppedByQuota: boolean;
  refusal: Refusal | undefined;
  /** Bytes of an upstream's own error body that pass to the caller instead of a rendered refusal. */
  passThrough: { readonly status: number; readonly body: Buffer; readonly contentType: string } | undefined;
  figures: CallFigures | undefined;
  /** `occurred_at` of its record, epoch milliseconds: the period in which its quotas count it. */
  recordedAtMs: number | undefined;
  /** Why the connection was cut before the client had taken the end of its answer. */
  cutFor: CutReason | undefined;
}
