import { z } from 'zod';
import { ABORT_CASES } from './settle-contract.ts';
import { AttemptOutcome, Outcome } from './outcomes.ts';
import { Instant, KeyId, Name, NanoUsd, RequestId, Slug, Uuid } from './ids.ts';
import { ServedUse, TokenUsage, UsageSource } from './usage.ts';
import { LEVELS, Priority } from './policy.ts';
import { RouteDecision, Ulid } from './router-snapshot.ts';

/** Version of the event format; a consumer dead-letters a version that it does not know. */
export const EVENT_SCHEMA = 'sluice.event/1';

const envelope = {
  schema: z.literal(EVENT_SCHEMA),
  /** Deterministic: the same fact always has the same id, so a repeated delivery is one row. */
  event_id: z.string().min(1).max(200),
  /** When it happened, frozen at the source. */
  occurred_at: Instant,
  traceparent: z.string().max(55).optional(),
};

/** Who wrote a usage event, and its place in that writer's unbroken sequence. */
export const EventOrigin = z.object({
  gateway_id: Name,
  /**
   * One per boot of this gateway's outbox, ever larger: milliseconds of the wall clock, or one more than the last
   * where that is later.
   */
  epoch: z.int().min(1),
  /** Counts published usage events of the epoch; starts at 1, no gaps. */
  sequence: z.int().min(1),
});
export type EventOrigin = z.infer<typeof EventOrigin>;

const callIdentity = {
  request_id: RequestId,
  client_request_id: z.string().max(200).optional(),
  tenant_id: Name,
  workspace: Slug,
  workspace_id: Uuid,
  cell_id: Name,
  key_id: KeyId,
  operation: z.enum(['chat', 'messages', 'responses', 'embeddings', 'count_tokens']),
  stream: z.boolean(),
  /** As the caller wrote it. */
  model_requested: z.string().max(256),
  feature: z.string().max(128).optional(),
  tags: z.record(z.string(), z.string()).default({}),
  end_user: z.string().max(256).optional(),
};

/**
 * What the candidate policy of a rollout in its shadow stage would have decided of the same request with the same
 * draw. It decided nothing.
 */
export const ShadowDecision = z.object({
  rollout_id: Ulid,
  policy_version: Name,
  /** Absent, with `error`, when it could not decide. */
  chosen: Name.optional(),
  base: Name.optional(),
  /** Probability that it gives to the model which was chosen in its place. */
  served_probability: z.number().min(0).max(1).optional(),
  error: z.string().max(300).optional(),
});
export type ShadowDecision = z.infer<typeof ShadowDecision>;

/**
 * How the model of a call was chosen; only of calls that left the choice to the learned policy. A record of it that
 * cannot be read counts as absent: what a call used must reach the ledger all the same.
 */
const routed = {
  /**
   * The whole record, by which its probabilities can be computed again. Its `chosen` is the action; `model` is what
   * really answered.
   */
  decision: RouteDecision.optional().catch(undefined),
  shadow: ShadowDecision.optional().catch(undefined),
};

/** In the outbox before the upstream call; never published. An unmatched one is settled as `interrupted` at boot. */
export const CallStarted = z.object({
  ...envelope,
  type: z.literal('call.started'),
  ...callIdentity,
  reservation: z.object({ input_tokens: z.int().min(0), output_tokens: z.int().min(0), cost_nanousd: NanoUsd }),
  /** First entry of the plan. */
  provider: Name,
  model: Name,
  price_version: z.int().min(0),
  /** Billed price of the model at this moment, so that an interrupted call is priced without the catalogue. */
  billed_price: z.object({ input_picousd: z.int().min(0), output_picousd: z.int().min(0) }),
  /** What the first provider of the plan charges us; absent when unknown. */
  provider_price: z.object({ input_picousd: z.int().min(0), output_picousd: z.int().min(0) }).optional(),
  priority: Priority,
  ...routed,
});
export type CallStarted = z.infer<typeof CallStarted>;

export const CallAttempt = z.object({
  index: z.int().min(0),
  provider: Name,
  credential: Name,
  model: Name,
  provider_model: z.string(),
  outcome: AttemptOutcome,
  status: z.int().optional(),
  usage: TokenUsage,
  usage_source: UsageSource,
  /** What of the use has a price of its own. */
  served: ServedUse.optional(),
  /** What this attempt costs us, an abandoned one too. */
  cost_nanousd: NanoUsd,
  queue_ms: z.number().min(0),
  ttfb_ms: z.number().min(0).optional(),
  duration_ms: z.number().min(0),
});
export type CallAttempt = z.infer<typeof CallAttempt>;

/** One per logical call, attempts inside: the ledger's row. */
export const CallSettled = z.object({
  ...envelope,
  type: z.literal('call.settled'),
  ...EventOrigin.shape,
  ...callIdentity,
  outcome: Outcome,
  /** Code of the error catalogue when it did not end well. */
  error_code: z.string().optional(),
  status: z.int(),
  abort_case: z.enum(ABORT_CASES),
  /** What really answered; absent when nothing did. */
  provider: Name.optional(),
  model: Name.optional(),
  fallback: z.boolean(),
  fallback_reason: z.string().optional(),
  decision_id: z.string().optional(),
  ...routed,
  priority: Priority,
  cache: z.enum(['off', 'miss', 'hit', 'stale']),
  usage: TokenUsage,
  usage_source: UsageSource,
  /** Sum over attempts: what providers charge us. */
  cost_nanousd: NanoUsd,
  /** What the customer is billed. */
  billed_nanousd: NanoUsd,
  price_version: z.int().min(0),
  estimate: z.object({ input_tokens: z.int().min(0), output_tokens: z.int().min(0) }),
  finish_reason: z.string().optional(),
  latency: z.object({
    /** Ours, up to the first upstream byte. */
    overhead_us: z.int().min(0),
    queue_ms: z.number().min(0),
    ttfb_ms: z.number().min(0).optional(),
    total_ms: z.number().min(0),
  }),
  attempts: z.array(CallAttempt).max(8),
});
export type CallSettled = z.infer<typeof CallSettled>;

/** Anomalies; the type is also the message attribute that subscriptions filter by. */
export const ANOMALY_TYPES = [
  'refusals.throttled',
  'refusals.shed',
  'refusals.quota',
  'refusals.unauthenticated',
  'refusals.client_error',
  'breaker.opened',
  'breaker.partly_opened',
  'breaker.closed',
  'provider.account_fault',
  'usage.implausible',
  'price.missing',
  'provider.model_unknown',
  'quota.warning',
  'quota.exhausted',
  'outbox.ageing',
  'outbox.full',
  'snapshot.ageing',
  'gateway.restarted',
] as const;
export const AnomalyType = z.enum(ANOMALY_TYPES);
export type AnomalyType = z.infer<typeof AnomalyType>;

export const Anomaly = z.object({
  ...envelope,
  type: AnomalyType,
  gateway_id: Name,
  cell_id: Name,
  tenant_id: Name.optional(),
  workspace: Slug.optional(),
  /** For refusals: how many in this second; else 1. */
  count: z.int().min(1),
  /** Which limit, breaker or quota. */
  subject: z.string().max(300),
  level: z.enum([...LEVELS, 'provider']).optional(),
  /** One sentence for people. */
  message: z.string().max(1000),
  /** A few request ids. */
  samples: z.array(z.string().max(64)).max(5).default([]),
});
export type Anomaly = z.infer<typeof Anomaly>;

export const AuditEvent = z.object({
  ...envelope,
  /** `<noun>.<verb>`: `key.created`, `policy.changed`, `session.started`, `chaos.flood`, `key.refused`. */
  type: z.string().regex(/^[a-z_]+\.[a-z_]+$/),
  actor: z.object({
    kind: z.enum(['operator', 'person', 'service', 'api_key', 'anonymous']),
    id: z.string().max(200),
    address: z.string().max(64).optional(),
  }),
  target: z.object({ kind: z.string().max(64), id: z.string().max(200) }),
  /** Set when the target belongs to a tenant; the export filters by it. */
  tenant_id: Name.optional(),
  workspace: Slug.optional(),
  /** State before and after; nothing secret. */
  before: z.unknown().optional(),
  after: z.unknown().optional(),
  reason: z.string().max(500).optional(),
});
export type AuditEvent = z.infer<typeof AuditEvent>;

export type SpineEvent = CallSettled | Anomaly | AuditEvent;

/** Id of the one `call.settled` of a request. */
export const settledEventId = (requestId: string): string => `${requestId}.settled`;
/** Id of the one `call.started` of a request. */
export const startedEventId = (requestId: string): string => `${requestId}.started`;
