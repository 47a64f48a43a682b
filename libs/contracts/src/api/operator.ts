import { z } from 'zod';
import { Instant, KeyId, Name, RequestId, Slug } from '../ids.ts';
import { Outcome } from '../outcomes.ts';
import { Role } from '../tenancy.ts';
import { TOKEN_CLASSES, TokenUsage } from '../usage.ts';
import { AnomalyType, CallAttempt } from '../events.ts';
import { ChaosReport } from './chaos.ts';
import { BreakerReport, GatewayReport, PoolReport, ProviderFigures } from './gateway-report.ts';
import { Limits } from '../policy.ts';

/** One second of one tenant in the live picture. */
export const StateSecond = z.object({
  second: z.int(),
  outcomes: z.partialRecord(Outcome, z.int()),
  tokens: z.int(),
  queue_ms_max: z.number(),
  queue_ms_mean: z.number(),
});
export type StateSecond = z.infer<typeof StateSecond>;

export const StateTenant = z.object({
  tenant: Name,
  name: z.string(),
  plan: Name,
  limits: Limits,
  workspaces: z.array(Slug),
  /** The last 120 whole seconds, oldest first, no gaps. */
  seconds: z.array(StateSecond),
  /** Sum of those by outcome. */
  totals: z.partialRecord(Outcome, z.int()),
});
export type StateTenant = z.infer<typeof StateTenant>;

export const DlqState = z.object({
  queue: z.string(),
  dlq: z.string(),
  depth: z.int().min(0),
  /**
   * How long the control plane has seen the DLQ filled without a break, since its own start; null while it is
   * empty.
   */
  oldest_age_s: z.number().min(0).nullable(),
});
export type DlqState = z.infer<typeof DlqState>;

/** `POST /api/dlqs/<queue>/redrive`. */
export const RedriveAnswer = z.object({
  queue: z.string(),
  /** Messages moved back to the queue. */
  moved: z.int().min(0),
  /** What the dead-letter queue holds afterwards; approximate. */
  left: z.int().min(0),
  /** Messages that the queue does not take again; they stay where they are. */
  refused: z.int().min(0),
  /** True when SQS moves them by its own task. */
  native: z.boolean(),
  /** False when a bound (10,000 messages, 20 s) ended it, or SQS is still moving: ask again. */
  finished: z.boolean(),
});
export type RedriveAnswer = z.infer<typeof RedriveAnswer>;

/** One of `GET /api/dlqs/<queue>/messages`. */
export const DeadLetterView = z.object({
  message_id: z.string(),
  /** Why its last delivery failed; null when the queue itself dead-lettered it. */
  reason: z.string().nullable(),
  sent_at: Instant.nullable(),
  /** The first 4,096 characters. */
  body: z.string(),
  body_bytes: z.int(),
  attributes: z.record(z.string(), z.string()),
});
export type DeadLetterView = z.infer<typeof DeadLetterView>;

/** `POST /api/dlqs/<queue>/discard`. */
export const DiscardRequest = z.strictObject({ message_ids: z.array(z.string().min(1).max(100)).min(1).max(100) });
export type DiscardRequest = z.infer<typeof DiscardRequest>;

export const QueueState = DlqState.extend({
  topic: z.string(),
  waiting: z.int().min(0),
  in_flight: z.int().min(0),
  consumer: z.string().nullable(),
});
export type QueueState = z.infer<typeof QueueState>;

export const StateAnomaly = z.object({
  event_id: z.string(),
  occurred_at: Instant,
  type: AnomalyType,
  tenant: Name.nullable(),
  workspace: Slug.nullable(),
  count: z.int(),
  message: z.string(),
});
export type StateAnomaly = z.infer<typeof StateAnomaly>;

/**
 * `GET /api/state`: the whole live picture the operator console draws; the same value each second on `GET
 * /api/state/stream`.
 */
export const OperatorState = z.object({
  at: Instant,
  config_version: z.int(),
  chaos_enabled: z.boolean(),
  tenants: z.array(StateTenant),
  providers: z.array(
    z.object({
      provider: Name,
      display_name: z.string(),
      dialect: z.string(),
      breakers: z.array(BreakerReport.extend({ gateway_id: Name })),
      pools: z.array(PoolReport.extend({ gateway_id: Name })),
      /** Of the last ten seconds, over all live gateways. */
      figures: ProviderFigures.omit({ provider: true }),
    }),
  ),
  queues: z.array(QueueState).nullable(),
  gateways: z.array(
    GatewayReport.omit({ seconds: true, breakers: true, pools: true, providers: true }).extend({ live: z.boolean() }),
  ),
  anomalies: z.array(StateAnomaly),
  ledger: z.object({ rows: z.int(), last_settled_at: Instant.nullable() }).nullable(),
  /** Running chaos actions with the time each ends. */
  chaos: z.array(z.object({ id: z.string(), kind: z.string(), target: z.string(), ends_at: Instant })),
  /** The newest failures that were started on purpose, running ones included, newest first: expected and observed. */
  chaos_reports: z.array(ChaosReport),
  /** Sentences about what is degraded now (`the database does not answer since …`); empty in good times. */
  problems: z.array(z.string()),
});
export type OperatorState = z.infer<typeof OperatorState>;

/** One row of `GET /api/ledger`. */
/** Tokens of a ledger row: of a call, or by how much a correction changes them. */
const RowTokens = z.object({
  input: z.int(),
  cache_read: z.int(),
  cache_write: z.int(),
  output: z.int(),
  reasoning: z.int(),
  audio: z.int(),
});

export const LedgerRow = z.object({
  /**
   * A correction is a row of its own, whose tokens and amounts are added to those of the call that it names; it may
   * be negative.
   */
  kind: z.enum(['call', 'correction']),
  /** `event_id` of the corrected call. */
  corrects: z.string().nullable(),
  reason: z.string().nullable(),
  event_id: z.string(),
  request_id: z.string(),
  occurred_at: Instant,
  gateway_id: z.string(),
  epoch: z.int(),
  sequence: z.int(),
  tenant: Name,
  workspace: Slug,
  key_id: KeyId,
  operation: z.string(),
  stream: z.boolean(),
  model_requested: z.string(),
  model: z.string().nullable(),
  provider: z.string().nullable(),
  outcome: Outcome,
  error_code: z.string().nullable(),
  status: z.int(),
  abort_case: z.string(),
  fallback: z.boolean(),
  fallback_reason: z.string().nullable(),
  feature: z.string().nullable(),
  end_user: z.string().nullable(),
  client_request_id: z.string().nullish(),
  decision_id: z.string().nullish(),
  finish_reason: z.string().nullish(),
  tags: z.record(z.string(), z.string()),
  cache: z.string(),
  tokens: RowTokens,
  usage_source: z.string(),
  cost_nanousd: z.int(),
  billed_nanousd: z.int(),
  price_version: z.int(),
  latency: z.object({
    overhead_us: z.int(),
    queue_ms: z.number(),
    ttfb_ms: z.number().nullable(),
    total_ms: z.number(),
  }),
  attempts: z.array(CallAttempt),
});
export type LedgerRow = z.infer<typeof LedgerRow>;

export const LedgerPage = z.object({ rows: z.array(LedgerRow), next_cursor: z.string().nullable() });
export type LedgerPage = z.infer<typeof LedgerPage>;

/** `GET /api/ledger/summary`; refusals are not counted. */
export const LedgerSummary = z.object({
  calls: z.int(),
  attempts: z.int(),
  tokens: TokenUsage,
  cost_nanousd: z.int(),
  cost_usd: z.string(),
  billed_nanousd: z.int(),
  billed_usd: z.string(),
  outcomes: z.partialRecord(Outcome, z.int()),
});
export type LedgerSummary = z.infer<typeof LedgerSummary>;

/** `POST /api/ledger/corrections`: what is added to a call's row; given again with the same id it changes nothing. */
export const LedgerCorrection = z
  .strictObject({
    /** Of the caller's choice, unique among the corrections of the call. */
    id: z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, underscores or hyphens'),
    request_id: RequestId,
    reason: z.string().trim().min(1).max(500),
    tokens: z.partialRecord(z.enum(TOKEN_CLASSES), z.int()).default({}),
    cost_nanousd: z.int().default(0),
    billed_nanousd: z.int().default(0),
  })
  .refine(
    (c) => c.cost_nanousd !== 0 || c.billed_nanousd !== 0 || Object.values(c.tokens).some((n) => n !== 0),
    'corrects nothing: give tokens, cost_nanousd or billed_nanousd',
  )
  .meta({
    examples: [
      {
        id: 'refund-1',
        request_id: 'req_01KA2B3C4D5E6F7G8H9JKMNPQR',
        reason: 'The answer was cut by us.',
        billed_nanousd: -1_200_000,
      },
    ],
  });
export type LedgerCorrection = z.infer<typeof LedgerCorrection>;

/** A key of the rollups whose sums are not those of the rows; decimals as text, because sums may pass 2^53. */
export const LedgerDifference = z.object({
  step: z.enum(['hour', 'day']),
  /** Start of the step. */
  at: z.string(),
  workspace: z.string(),
  model: z.string(),
  provider: z.string(),
  feature: z.string(),
  outcome: z.string(),
  sums: z.record(z.string(), z.object({ rows: z.string(), rollup: z.string() })),
});
export type LedgerDifference = z.infer<typeof LedgerDifference>;

/** `POST /api/workspaces/<slug>/keys`. */
export const CreateKeyRequest = z.strictObject({
  name: z.string().min(1).max(100),
  expiresAt: Instant.optional(),
  limits: Limits.optional(),
  allowModels: z.array(Name).min(1).optional(),
  /** CIDR ranges from which the key may be used; everywhere when absent. */
  allowAddresses: z
    .array(z.union([z.cidrv4(), z.cidrv6()]))
    .min(1)
    .optional(),
  tags: z.record(z.string().max(64), z.string().max(256)).optional(),
});
export type CreateKeyRequest = z.infer<typeof CreateKeyRequest>;
/** The only time the key is shown. */
export const CreateKeyResponse = z.object({ keyId: KeyId, key: z.string(), name: z.string() });
export type CreateKeyResponse = z.infer<typeof CreateKeyResponse>;

/** `POST /api/keys/<keyId>/rotate`: a new key like the old one, which goes on working for the grace time. */
export const RotateKeyRequest = z.strictObject({
  graceSeconds: z
    .int()
    .min(0)
    .max(30 * 86_400)
    .default(86_400),
});
export type RotateKeyRequest = z.infer<typeof RotateKeyRequest>;

/** `POST /api/session` on control plane and BFF. */
export const SessionRequest = z
  .strictObject({
    email: z.string().min(1).max(200).optional(),
    user: z.string().min(1).max(200).optional(),
    password: z.string().min(1).max(500),
    bearer: z.boolean().optional(),
  })
  .refine((s) => (s.email === undefined) !== (s.user === undefined), 'give either email or user')
  .meta({ examples: [{ user: 'ada', password: 'a long enough password' }] });
export type SessionRequest = z.infer<typeof SessionRequest>;

/** What the `type` of our problems begins with; `about:blank` where the status says everything. */
export const PROBLEM_TYPE_PREFIX = 'urn:sluice:problem:';

/** RFC 9457 problem, on control plane, BFF and router. */
export const Problem = z.object({
  /** `urn:sluice:problem:<kind>`, or `about:blank` where the status says everything. */
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string().optional(),
  request_id: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  /** Of a 412: the version that the caller has seen, and the one that is current (null: the row is gone). */
  versions: z.object({ yours: z.int(), current: z.int().nullable() }).optional(),
});
export type Problem = z.infer<typeof Problem>;

/** One of `GET /api/put-aside`: a record that the ledger or the spine never takes, and why. */
export const PutAsideRecord = z.object({
  id: z.string(),
  /** `ledger`: usage that cannot be stored. `outbox`: an event of the control plane that cannot be published or stored. */
  source: z.enum(['ledger', 'outbox']),
  reason: z.string(),
  at: Instant,
  /** As it came. */
  body: z.string(),
});
export type PutAsideRecord = z.infer<typeof PutAsideRecord>;

/** One of `GET /api/invitations`: asked by a customer's admin, not taken yet. Its secret is nowhere but with them. */
export const InvitationView = z.object({
  id: z.string(),
  email: z.string(),
  role: Role,
  workspace: Slug,
  tenant: Name,
  expires_at: Instant,
});
export type InvitationView = z.infer<typeof InvitationView>;
