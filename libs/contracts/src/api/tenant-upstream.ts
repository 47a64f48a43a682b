import { z } from 'zod';
import { Instant, Name, NanoUsd, Slug } from '../ids.ts';
import { Outcome } from '../outcomes.ts';
import { Limits } from '../policy.ts';
import { Principal } from '../tenancy.ts';
import { TokenUsage } from '../usage.ts';

/*
 * What the control plane answers the console's BFF, under `/internal`. Calls carry the BFF's service token; those of a
 * workspace also carry the signed principal, and answer 404 to a principal without a role there as to an unknown slug.
 * These objects are open: the control plane may say more, and the BFF shows customers only what it constructs itself.
 */

/** `POST /internal/people/session` (service token only): 200 with the principal, 401 problem, 429 problem while locked out. */
export const PersonSessionRequest = z.strictObject({ email: z.string().min(1).max(200), password: z.string().min(1).max(500) });
export type PersonSessionRequest = z.infer<typeof PersonSessionRequest>;
export const PersonSessionResponse = Principal;
export type PersonSessionResponse = z.infer<typeof PersonSessionResponse>;

const outcomeCounts = z.partialRecord(Outcome, z.int().min(0));

/** `GET /internal/workspaces/<slug>/overview`. */
export const TenantOverview = z.object({
  workspace: Slug,
  tenant: Name,
  plan: Name,
  /** The last 120 whole seconds of this workspace, oldest first, no gaps. `second` is Unix time. */
  seconds: z.array(z.object({ second: z.int(), outcomes: outcomeCounts, tokens: z.int().min(0) })).max(120),
  /** Sum of those by outcome. */
  totals: z.object({ outcomes: outcomeCounts }),
  /** Since midnight in the tenant's time zone, from the ledger. */
  today: z.object({ calls: z.int().min(0), tokens: TokenUsage, billed_nanousd: NanoUsd }),
  /** The workspace's effective limits. */
  limits: Limits,
});
export type TenantOverview = z.infer<typeof TenantOverview>;

/** `GET /internal/workspaces/<slug>/usage?days=` (1 to 31, default 7): oldest bucket first. */
export const TenantUsage = z.object({
  buckets: z
    .array(
      z.object({
        /** Start of the hour or day. */
        bucket: Instant,
        model: z.string(),
        calls: z.int().min(0),
        tokens: TokenUsage,
        billed_nanousd: NanoUsd,
      }),
    )
    .max(10_000),
});
export type TenantUsage = z.infer<typeof TenantUsage>;

/** `GET /internal/workspaces/<slug>/requests?limit=&cursor=` (limit 1 to 200, default 50): newest first. */
export const TenantRequests = z.object({
  rows: z
    .array(
      z.object({
        request_id: z.string(),
        occurred_at: Instant,
        model: z.string().nullable(),
        outcome: Outcome,
        error_code: z.string().nullable(),
        status: z.int(),
        tokens: TokenUsage,
        billed_nanousd: NanoUsd,
        total_ms: z.number().min(0),
        fallback: z.boolean(),
      }),
    )
    .max(200),
  next_cursor: z.string().nullable(),
});
export type TenantRequests = z.infer<typeof TenantRequests>;
