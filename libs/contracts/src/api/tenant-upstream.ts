import { z } from 'zod';
import { Instant, KeyId, Name } from '../ids.ts';
import { QuotaMeter } from '../policy.ts';
import { Principal } from '../tenancy.ts';
import { AcceptInvitationRequest } from './console-members.ts';
import { AlertsView, DeliveriesView, NewWebhookView, WebhooksView, WebhookView } from './console-alerts.ts';
import { BillingView, StatementView } from './console-billing.ts';
import { MembersView, MemberView, NewMemberView } from './console-members.ts';
import { PolicyConflict, PolicyView } from './console-policy.ts';
import { RequestsView, RequestView } from './console-requests.ts';
import { ModelsView, SeriesView, UsageView } from './console-usage.ts';
import { OverviewView } from './console.ts';
import { openSchema } from './open-schema.ts';

/*
 * What the control plane answers the console's BFF, under `/internal`. Calls carry the BFF's service token; those of a
 * workspace also carry the signed principal, and answer 404 to a principal without a role there as to an unknown slug.
 * These objects are open: the control plane may say more, and the BFF shows customers only what it constructs itself.
 */

/** Who tries a password: the client's address, and the proof of an earlier sign-in that its device brought. */
const From = {
  address: z.string().max(64).optional(),
  device: z.string().max(200).optional(),
};

/**
 * `POST /internal/people/session` (service token only): 200 with the principal and the device's next proof, 401
 * problem, 429 problem for a caller who would wait too long.
 */
export const PersonSessionRequest = z.strictObject({
  email: z.string().min(1).max(200),
  password: z.string().min(1).max(500),
  ...From,
});
export type PersonSessionRequest = z.infer<typeof PersonSessionRequest>;
/** `POST /internal/people/invitations` (service token only): 204, 401 problem, 429 problem as at a sign-in. */
export const TakeInvitationRequest = AcceptInvitationRequest.extend(From);
export type TakeInvitationRequest = z.infer<typeof TakeInvitationRequest>;
export const PersonSessionResponse = Principal.extend({ device: z.string().max(200).optional() });
export type PersonSessionResponse = z.infer<typeof PersonSessionResponse>;

/**
 * A person's session of the console. Its token is known as a digest alone, by the backend that opened it and by the
 * control plane that keeps it.
 */
export const PersonSession = z.strictObject({
  /** Public name; it opens nothing. */
  session_id: z.string().min(1).max(64),
  user_id: z.string().min(1).max(200),
  created_at: Instant,
  last_used_at: Instant,
  expires_at: Instant,
  address: z.string().max(64).nullable(),
  agent: z.string().max(200).nullable(),
});
export type PersonSession = z.infer<typeof PersonSession>;

/** sha-256 of a session's token, base64url. */
const TokenDigest = z
  .string()
  .regex(/^[\w-]{43}$/, 'must be a sha-256 digest in base64url')
  .meta({ examples: ['47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'] });

/** `POST /internal/people/sessions` (service token only): keeps a session that was opened; 204. */
export const OpenedSession = z.strictObject({ token_digest: TokenDigest, session: PersonSession });
export type OpenedSession = z.infer<typeof OpenedSession>;

/**
 * `POST /internal/people/sessions/seen` (service token only): a session is used; 200 with it and the person as they
 * are now, 404 once either is gone.
 */
export const SeenSession = z.strictObject({ token_digest: TokenDigest });
export const SeenSessionResponse = z.object({ session: PersonSession, principal: Principal });
export type SeenSessionResponse = z.infer<typeof SeenSessionResponse>;

/** `GET /internal/people/sessions`, in a person's name: the own sessions, newest first. */
export const OwnSessions = z.object({ rows: z.array(OpenedSession) });
export type OwnSessions = z.infer<typeof OwnSessions>;

/** `POST /internal/people/sessions/ended`, in a person's name: ends own sessions; 204, also when they had ended. */
export const EndedSessions = z.strictObject({ token_digests: z.array(TokenDigest).min(1).max(1_000) });

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
        span: z.object({
          kind: z.enum(['rolling', 'calendar']),
          seconds: z.int().optional(),
          period: z.enum(['day', 'month']).optional(),
          timeZone: z.string().optional(),
        }),
        limit: z.int().min(0),
        mode: z.enum(['hard', 'soft']),
      }),
    )
    .default([]),
});

/*
 * What is the same as the view that customers see, only open: `GET /internal/workspaces/<slug>/…` answers the same questions as the BFF's `/api/…`.
 * Money is null here already for a principal without `cost:read`.
 */
export const TenantOverview = openSchema(OverviewView);
export type TenantOverview = z.infer<typeof TenantOverview>;
export const TenantUsage = openSchema(UsageView);
export const TenantSeries = openSchema(SeriesView);
export const TenantModels = openSchema(ModelsView);
export const TenantRequests = openSchema(RequestsView);
export const TenantRequest = openSchema(RequestView);
export const TenantPolicy = openSchema(PolicyView);
export const TenantMembers = openSchema(MembersView);
export const TenantNewMember = openSchema(NewMemberView);
export const TenantMember = openSchema(MemberView);
export const TenantBilling = openSchema(BillingView);
export const TenantStatement = openSchema(StatementView);
export const TenantAlerts = openSchema(AlertsView);
export const TenantWebhooks = openSchema(WebhooksView);
export const TenantWebhook = openSchema(WebhookView);
export const TenantNewWebhook = openSchema(NewWebhookView);
export const TenantDeliveries = openSchema(DeliveriesView);

/**
 * The answer of `PUT …/policy` and `PUT …/billing`: 200 with the view, or 412 with this (`base` is null for
 * billing).
 */
export const TenantPolicyConflict = z.looseObject({
  base: openSchema(PolicyConflict.shape.base),
  current: TenantPolicy,
  conflicts: z.array(z.string()),
});
export type TenantPolicyConflict = z.infer<typeof TenantPolicyConflict>;

/**
 * `GET /internal/workspaces/<slug>/keys`. `POST` takes `CreateKeyRequest` and answers `CreateKeyResponse`; `DELETE
 * …/keys/<keyId>` answers 204.
 */
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
