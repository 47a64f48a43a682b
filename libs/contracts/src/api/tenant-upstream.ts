import { z } from 'zod';
import { Instant, KeyId, Name, NanoUsd, Slug } from '../ids.ts';
import { Outcome } from '../outcomes.ts';
import { QuotaMeter } from '../policy.ts';
import { Principal } from '../tenancy.ts';
import { TokenUsage } from '../usage.ts';

/*
 * What the control plane answers the console's BFF, under `/internal`. Calls carry the BFF's service token; those of a
 * workspace also carry the signed principal, and answer 404 to a principal without a role there as to an unknown slug.
 * These objects are open: the control plane may say more, and the BFF shows customers only what it constructs itself.
 */

/** `POST /internal/people/session` (service token only): 200 with the principal, 401 problem, 429 problem while locked out. */
export const PersonSessionRequest = z.strictObject({ email: z.string().min(1).max(200), password: z.string().min(1).max(500), address: z.string().max(64).optional() });
export type PersonSessionRequest = z.infer<typeof PersonSessionRequest>;
export const PersonSessionResponse = Principal;
export type PersonSessionResponse = z.infer<typeof PersonSessionResponse>;

const count = z.int().min(0).optional();
const outcomeCounts = z.object({
  ok: count,
  client_error: count,
  unauthenticated: count,
  quota: count,
  shed: count,
  throttled: count,
  cancelled: count,
  interrupted: count,
  upstream_error: count,
  timeout: count,
  internal_error: count,
} satisfies Record<Outcome, z.ZodType>);

/** What a reader of `Limits` needs to show them; open, so that a limit of a later kind does not break it. */
const readableLimits = z.object({
  requests: z.object({ perSecond: z.number().optional(), perMinute: z.number().optional(), burst: z.int() }).optional(),
  tokens: z.object({ perMinute: z.int(), burst: z.int().optional() }).optional(),
  concurrency: z.object({ inFlight: z.int(), queued: z.int() }).optional(),
  quotas: z
    .array(
      z.object({
        id: Name,
        meter: QuotaMeter,
        span: z.object({ kind: z.enum(['rolling', 'calendar']), seconds: z.int().optional(), period: z.enum(['day', 'month']).optional(), timeZone: z.string().optional() }),
        limit: z.int().min(0),
        mode: z.enum(['hard', 'soft']),
      }),
    )
    .default([]),
});

/** `GET /internal/workspaces/<slug>/overview`. */
export const TenantOverview = z.object({
  workspace: Slug,
  /** The limits are the tenant's, as in `Limits`. */
  tenant: z.object({ id: Name, name: z.string(), plan: Name, limits: readableLimits }),
  /** The last 120 whole seconds of this workspace, oldest first, no gaps. `second` is Unix time. */
  seconds: z.array(z.object({ second: z.int(), outcomes: outcomeCounts, tokens: z.int().min(0) })).max(600),
  /** This month so far (UTC), from the ledger; refusals are not counted. */
  month: z.object({ calls: z.int().min(0), tokens: TokenUsage, billed_nanousd: NanoUsd }),
});
export type TenantOverview = z.infer<typeof TenantOverview>;

/** `GET /internal/workspaces/<slug>/usage?from=&to=&step=hour|day`, oldest first. */
export const TenantUsage = z.object({
  points: z
    .array(
      z.object({
        /** Start of the step. */
        at: Instant,
        model: z.string().nullable(),
        feature: z.string().nullable(),
        calls: z.int().min(0),
        input_tokens: z.int().min(0),
        output_tokens: z.int().min(0),
        billed_nanousd: NanoUsd,
      }),
    )
    .max(100_000),
});
export type TenantUsage = z.infer<typeof TenantUsage>;

/** `GET /internal/workspaces/<slug>/requests?from=&to=&limit=&cursor=`, newest first. */
export const TenantRequests = z.object({
  rows: z
    .array(
      z.object({
        request_id: z.string(),
        occurred_at: Instant,
        model: z.string().nullable(),
        feature: z.string().nullable(),
        outcome: Outcome,
        error_code: z.string().nullable(),
        status: z.int(),
        tokens: TokenUsage,
        billed_nanousd: NanoUsd,
        latency: z.object({ total_ms: z.number().min(0) }),
        fallback: z.boolean(),
      }),
    )
    .max(1000),
  next_cursor: z.string().nullable(),
});
export type TenantRequests = z.infer<typeof TenantRequests>;

/** `GET /internal/workspaces/<slug>/keys`. `POST` takes `CreateKeyRequest` and answers `CreateKeyResponse`; `DELETE …/keys/<keyId>` answers 204. */
export const TenantKeys = z.object({
  rows: z
    .array(
      z.object({
        keyId: KeyId,
        name: z.string(),
        createdAt: Instant,
        expiresAt: Instant.optional(),
        allowModels: z.array(Name).optional(),
        allowAddresses: z.array(z.string()).optional(),
        limits: readableLimits.optional(),
      }),
    )
    .max(10_000),
});
export type TenantKeys = z.infer<typeof TenantKeys>;
