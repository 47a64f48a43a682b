import { z } from 'zod';
import { Name, Slug } from '../ids.ts';
import { Outcome } from '../outcomes.ts';
import { Priority } from '../policy.ts';

/** Counts of one second at one workspace. */
export const SecondCounts = z.object({
  /** Unix second. */
  second: z.int(),
  workspace: Slug,
  tenant: Name,
  outcomes: z.partialRecord(Outcome, z.int().min(0)),
  /** Tokens settled in this second. */
  tokens: z.int().min(0),
  /** Server-measured wait for provider capacity of the calls that ended in this second. */
  queue_ms_max: z.number().min(0),
  queue_ms_sum: z.number().min(0),
});
export type SecondCounts = z.infer<typeof SecondCounts>;

export const BreakerReport = z.object({
  provider: Name,
  model: Name,
  /**
   * Each tenant is judged by its own calls. `open` and `half_open`: the provider is held to be down; `partly_open`:
   * some tenants' calls fail while the others are served.
   */
  state: z.enum(['closed', 'open', 'half_open', 'partly_open']),
  failure_percent: z.number().min(0).max(100),
  calls: z.int().min(0),
  /** When the first of those that it is open for may probe, epoch milliseconds. */
  retry_at_ms: z.number().optional(),
  /** Tenants with verdicts lately, and of these the ones that it is open or half open for. */
  tenants: z.int().min(0).default(0),
  tenants_open: z.int().min(0).default(0),
  /** A few of their names. */
  open_for: z.array(Name).max(5).default([]),
});
export type BreakerReport = z.infer<typeof BreakerReport>;

export const PoolReport = z.object({
  provider: Name,
  credential: Name,
  slots: z.int(),
  in_use: z.int(),
  queued: z.partialRecord(Priority, z.int().min(0)),
  oldest_wait_ms: z.number().min(0),
  /** Of the whole account. */
  state: z.enum(['ok', 'cooldown', 'account_fault']),
  /** What rests and is refused: of one tenant where `tenant` is there, of one model where `model` is. */
  rests: z
    .array(
      z.object({
        kind: z.enum(['limited', 'refused']),
        /** What the provider refused with; absent where the secret is missing. */
        status: z.int().optional(),
        model: Name.optional(),
        tenant: Name.optional(),
        /** Epoch milliseconds; of a refusal, when it is tried again. */
        until_ms: z.number(),
      }),
    )
    .default([]),
  /** Limits per minute that are kept: as configured, as told by the provider's headers, or learned from its refusals. */
  rates: z
    .array(
      z.object({
        from: z.enum(['configured', 'told', 'learned']),
        model: Name.optional(),
        requests_per_minute: z.number().optional(),
        tokens_per_minute: z.number().optional(),
      }),
    )
    .default([]),
  /** Slots that are kept for a tier, and how many its calls hold. */
  reserved: z.object({ priority: Priority, slots: z.int(), in_use: z.int() }).optional(),
  /** The only tiers whose calls it takes. */
  tiers: z.array(Priority).optional(),
});
export type PoolReport = z.infer<typeof PoolReport>;

/** What a provider answered to one gateway in the last ten whole seconds. */
export const ProviderFigures = z.object({
  provider: Name,
  attempts: z.int().min(0),
  /** Of those, failed by the provider's fault. */
  failed: z.int().min(0),
  /** Attempts that got a first byte, and the mean and greatest wait for it. */
  answered: z.int().min(0),
  ttfb_ms_mean: z.number().min(0),
  ttfb_ms_max: z.number().min(0),
});
export type ProviderFigures = z.infer<typeof ProviderFigures>;

/** `POST /internal/gateways/report`, once a second; the answer is 204. */
export const GatewayReport = z.object({
  gateway_id: Name,
  cell_id: Name,
  pid: z.int(),
  started_at_ms: z.number(),
  at_ms: z.number(),
  state: z.enum(['starting', 'serving', 'draining']),
  config_version: z.int().min(0),
  config_connected: z.boolean(),
  config_age_ms: z.number().min(0),
  store: z.enum(['memory', 'valkey', 'valkey_local_share']),
  /** How far the expected tokens of calls were from the counted ones, percent, with and without calibration. */
  estimates: z
    .array(
      z.object({
        workspace: Slug,
        calls: z.int().min(0),
        uncalibrated_percent: z.number().min(0),
        calibrated_percent: z.number().min(0),
      }),
    )
    .default([]),
  outbox: z.object({
    epoch: z.int(),
    last_sequence: z.int(),
    published_sequence: z.int(),
    acked_sequence: z.int(),
    pending: z.int(),
    oldest_age_ms: z.number(),
    bytes: z.int(),
    segments: z.int(),
  }),
  rss_bytes: z.int(),
  in_flight: z.int().min(0),
  seconds: z.array(SecondCounts),
  breakers: z.array(BreakerReport),
  pools: z.array(PoolReport),
  providers: z.array(ProviderFigures).default([]),
  /** Secrets that the configuration refers to and this gateway does not have, as `env:NAME` or `file:NAME`. */
  missing_secrets: z.array(z.object({ provider: Name, credential: Name, secret: z.string().max(300) })).default([]),
});
export type GatewayReport = z.infer<typeof GatewayReport>;
