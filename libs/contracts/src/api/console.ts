import { z } from 'zod';
import { Instant, KeyId, Name, NanoUsd, Slug } from '../ids.ts';
import { KillSwitch } from '../catalogue.ts';
import { Outcome } from '../outcomes.ts';
import { QuotaMeter } from '../policy.ts';
import { Permission, Role } from '../tenancy.ts';

/*
 * The BFF's answers: what a customer's browser may receive, strict to the last level, so that an answer with anything more fails here instead
 * of leaving. Money is null for a role without `cost:read`.
 */

const count = z.int().min(0);
const outcomes = z.partialRecord(Outcome, count);
const tokens = z.strictObject({
  input: count,
  cache_read: count,
  cache_write: count,
  output: count,
  reasoning: count,
  audio: count,
});
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

/** The sessions of the signed-in person, newest first. */
export const SessionsView = z.strictObject({
  rows: z.array(
    z.strictObject({
      /** Public name of the session; it opens nothing. */
      session_id: z.string(),
      created_at: Instant,
      last_used_at: Instant,
      expires_at: Instant,
      address: z.string().nullable(),
      /** Product names of the browser or program, at most 120 characters. */
      agent: z.string().nullable(),
      /** The one that asks. */
      current: z.boolean(),
    }),
  ),
});
export type SessionsView = z.infer<typeof SessionsView>;

export const CustomerLimits = z.strictObject({
  requests: z
    .strictObject({ per_second: z.number().nullable(), per_minute: z.number().nullable(), burst: count })
    .nullable(),
  tokens: z.strictObject({ per_minute: count }).nullable(),
  concurrency: z.strictObject({ in_flight: count, queued: count }).nullable(),
  quotas: z.array(
    z.strictObject({ id: Name, meter: QuotaMeter, span: z.string(), limit: count, mode: z.enum(['hard', 'soft']) }),
  ),
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
  /**
   * How full each quota window is, of the tenant and of the workspace. Money windows are left out for roles without
   * `cost:read`.
   */
  quotas: z.array(
    z.strictObject({
      id: Name,
      level: z.enum(['tenant', 'workspace']),
      meter: QuotaMeter,
      span: z.string(),
      mode: z.enum(['hard', 'soft']),
      limit: count,
      /** Of the ledger, so it lags by what is on its way there. */
      used: count,
      /** Null for a rolling window, which empties step by step. */
      resets_at: Instant.nullable(),
    }),
  ),
  /**
   * Of the newest calls of the last hour that reached a provider, at most 500, milliseconds; null when there were
   * none.
   */
  latency: z.strictObject({ calls: count, p50_ms: z.number(), p95_ms: z.number(), p99_ms: z.number() }).nullable(),
  /** What an operator has stopped that this workspace could meet; shown as a banner. */
  kill_switches: z.array(
    z.strictObject({ scope: KillSwitch.shape.scope, target: z.string().nullable(), message: z.string() }),
  ),
  /** Alerts that are still open. */
  open_alerts: count,
});
export type OverviewView = z.infer<typeof OverviewView>;

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
  allow_addresses: z
    .array(z.union([z.cidrv4(), z.cidrv6()]))
    .min(1)
    .max(50)
    .optional(),
});
export type NewKeyRequest = z.infer<typeof NewKeyRequest>;

/** The only time that the key is shown. */
export const NewKeyView = z.strictObject({ key_id: KeyId, key: z.string(), name: z.string() });
export type NewKeyView = z.infer<typeof NewKeyView>;
