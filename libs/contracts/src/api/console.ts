import { z } from 'zod';
import { Instant, KeyId, Name, NanoUsd, Slug } from '../ids.ts';
import { Outcome } from '../outcomes.ts';
import { QuotaMeter } from '../policy.ts';
import { Permission, Role } from '../tenancy.ts';

/*
 * The BFF's answers: what a customer's browser may receive, strict to the last level, so that an answer with anything more fails here instead
 * of leaving. Money is null for a role without `cost:read`.
 */

const count = z.int().min(0);
const outcomes = z.partialRecord(Outcome, count);
const tokens = z.strictObject({ input: count, cache_read: count, cache_write: count, output: count, reasoning: count, audio: count });
const money = NanoUsd.nullable();

export const SessionView = z.strictObject({
  kind: z.literal('person'),
  userId: z.string(),
  email: z.string(),
  roles: z.record(Slug, Role),
  permissions: z.record(Slug, z.array(Permission)),
  /** Only when `bearer` was asked for. */
  token: z.string().optional(),
});
export type SessionView = z.infer<typeof SessionView>;

export const CustomerLimits = z.strictObject({
  requests: z.strictObject({ per_second: z.number().nullable(), per_minute: z.number().nullable(), burst: count }).nullable(),
  tokens: z.strictObject({ per_minute: count }).nullable(),
  concurrency: z.strictObject({ in_flight: count, queued: count }).nullable(),
  quotas: z.array(z.strictObject({ id: Name, meter: QuotaMeter, span: z.string(), limit: count, mode: z.enum(['hard', 'soft']) })),
});
export type CustomerLimits = z.infer<typeof CustomerLimits>;

export const OverviewView = z.strictObject({
  workspace: Slug,
  tenant: z.strictObject({ id: Name, name: z.string() }),
  plan: Name,
  seconds: z.array(z.strictObject({ second: z.int(), outcomes, tokens: count })),
  totals: z.strictObject({ outcomes }),
  /** This month so far, UTC; refusals are not counted. */
  month: z.strictObject({ calls: count, tokens, billed_nanousd: money }),
  /** The tenant's limits, which span its workspaces. */
  limits: CustomerLimits,
});
export type OverviewView = z.infer<typeof OverviewView>;

export const UsageView = z.strictObject({
  points: z.array(
    z.strictObject({
      /** Start of the hour or day. */
      at: Instant,
      model: z.string().nullable(),
      feature: z.string().nullable(),
      calls: count,
      input_tokens: count,
      output_tokens: count,
      billed_nanousd: money,
    }),
  ),
});
export type UsageView = z.infer<typeof UsageView>;

export const RequestsView = z.strictObject({
  rows: z.array(
    z.strictObject({
      request_id: z.string(),
      occurred_at: Instant,
      model: z.string().nullable(),
      feature: z.string().nullable(),
      outcome: Outcome,
      error_code: z.string().nullable(),
      status: z.int(),
      tokens,
      billed_nanousd: money,
      total_ms: z.number(),
      fallback: z.boolean(),
    }),
  ),
  next_cursor: z.string().nullable(),
});
export type RequestsView = z.infer<typeof RequestsView>;

export const KeysView = z.strictObject({
  /** Newest first. */
  rows: z.array(
    z.strictObject({
      key_id: KeyId,
      name: z.string(),
      created_at: Instant,
      expires_at: Instant.nullable(),
      expired: z.boolean(),
      /** Null when every model of the workspace may be used. */
      allow_models: z.array(Name).nullable(),
      /** CIDR ranges; null when the key may be used from everywhere. */
      allow_addresses: z.array(z.string()).nullable(),
      /** Null when only the limits of workspace and tenant hold. */
      limits: CustomerLimits.nullable(),
    }),
  ),
});
export type KeysView = z.infer<typeof KeysView>;

/** What a person may set of a new key. */
export const NewKeyRequest = z.strictObject({
  name: z.string().trim().min(1).max(100),
  expires_at: Instant.optional(),
  allow_models: z.array(Name).min(1).max(50).optional(),
  allow_addresses: z.array(z.union([z.cidrv4(), z.cidrv6()])).min(1).max(50).optional(),
});
export type NewKeyRequest = z.infer<typeof NewKeyRequest>;

/** The only time that the key is shown. */
export const NewKeyView = z.strictObject({ key_id: KeyId, key: z.string(), name: z.string() });
export type NewKeyView = z.infer<typeof NewKeyView>;
