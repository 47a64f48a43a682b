import { Instant, KeyId, KeysView, NewKeyRequest, NewKeyView, OverviewView, RequestsView, UsageView, type Permission, type Principal } from '@sluice/contracts';
import { z } from 'zod';
import type { ControlPlane } from './control-plane.ts';
import { projectKeys, projectNewKey, projectOverview, projectRequests, projectUsage, type Sight } from './projections.ts';

export interface ScopedCall {
  readonly principal: Principal;
  readonly slug: string;
  readonly sight: Sight;
  /** Parsed by the route's `query`. */
  readonly query: Record<string, string>;
  readonly params: Readonly<Record<string, string>>;
  /** As it came; a route with a body parses it by its own schema. */
  readonly body: unknown;
  readonly nowMs: number;
}

/** A route that shows something of one workspace. All of them take `?workspace=<slug>` and are scoped in one place. */
export interface ScopedRoute {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  readonly path: string;
  readonly summary: string;
  readonly permission: Permission;
  /** Absent while the route is not built: it is scoped all the same, and answers 501. */
  readonly built?: {
    readonly query?: z.ZodType<Record<string, string>>;
    /** What the route takes; other fields are a 400. */
    readonly body?: z.ZodType;
    /** 200 unless told; 204 has no view. */
    readonly status?: 201 | 204;
    /** Checked on the way out; absent for an answer without a body. */
    readonly view?: z.ZodType;
    /** Undefined when there is no such workspace, or thing in it. */
    answer(controlPlane: ControlPlane, call: ScopedCall): Promise<unknown>;
  };
}

const digits = (max: number): z.ZodType<string> => z.string().refine((text) => /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= max, `must be a whole number from 1 to ${max}`);
const optional = (shape: Record<string, z.ZodType<string>>): z.ZodType<Record<string, string>> =>
  z.object(shape).partial().transform((given) => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Record<string, string>);

export const SCOPED_ROUTES: readonly ScopedRoute[] = [
  {
    method: 'get',
    path: '/api/overview',
    summary: 'The last two minutes, this month, and the limits of a workspace',
    permission: 'usage:read',
    built: {
      view: OverviewView,
      async answer(controlPlane, { principal, slug, sight }) {
        const found = await controlPlane.overview(principal, slug);
        return found && projectOverview(found, sight);
      },
    },
  },
  {
    method: 'get',
    path: '/api/usage',
    summary: 'Calls, tokens and cost by time, model and feature',
    permission: 'usage:read',
    built: {
      query: optional({ from: Instant, to: Instant, step: z.enum(['hour', 'day']) }),
      view: UsageView,
      async answer(controlPlane, { principal, slug, sight, query }) {
        const found = await controlPlane.usage(principal, slug, query);
        return found && projectUsage(found, sight);
      },
    },
  },
  {
    method: 'get',
    path: '/api/requests',
    summary: 'Single requests, newest first',
    permission: 'trace:read',
    built: {
      query: optional({ limit: digits(200), cursor: z.string().min(1).max(200) }),
      view: RequestsView,
      async answer(controlPlane, { principal, slug, sight, query }) {
        const found = await controlPlane.requests(principal, slug, query);
        return found && projectRequests(found, sight);
      },
    },
  },
  { method: 'get', path: '/api/requests/:requestId', summary: 'One request, with its attempts', permission: 'trace:read' },
  { method: 'get', path: '/api/series', summary: 'One figure over time, downsampled', permission: 'usage:read' },
  { method: 'get', path: '/api/models', summary: 'The models that the workspace may use', permission: 'usage:read' },
  { method: 'get', path: '/api/policy', summary: 'The policy of a workspace, and where each field comes from', permission: 'policy:read' },
  { method: 'put', path: '/api/policy', summary: 'Replaces what the workspace overrides; If-Match, 412 with base and both versions', permission: 'policy:write' },
  {
    method: 'get',
    path: '/api/keys',
    summary: 'API keys of a workspace, newest first; never the keys themselves',
    permission: 'keys:write',
    built: {
      view: KeysView,
      async answer(controlPlane, { principal, slug, nowMs }) {
        const found = await controlPlane.keys(principal, slug);
        return found && projectKeys(found, nowMs);
      },
    },
  },
  {
    method: 'post',
    path: '/api/keys',
    summary: 'Makes an API key; the answer is the only time it is shown',
    permission: 'keys:write',
    built: {
      body: NewKeyRequest,
      status: 201,
      view: NewKeyView,
      async answer(controlPlane, { principal, slug, body }) {
        const { name, expires_at, allow_models, allow_addresses } = body as NewKeyRequest;
        const made = await controlPlane.createKey(principal, slug, {
          name,
          ...(expires_at === undefined ? {} : { expiresAt: expires_at }),
          ...(allow_models === undefined ? {} : { allowModels: allow_models }),
          ...(allow_addresses === undefined ? {} : { allowAddresses: allow_addresses }),
        });
        return made && projectNewKey(made);
      },
    },
  },
  {
    method: 'delete',
    path: '/api/keys/:keyId',
    summary: 'Revokes an API key; every gateway hears of it in under a second',
    permission: 'keys:write',
    built: {
      status: 204,
      async answer(controlPlane, { principal, slug, params }) {
        const keyId = KeyId.safeParse(params['keyId']);
        return keyId.success && (await controlPlane.revokeKey(principal, slug, keyId.data)) ? {} : undefined;
      },
    },
  },
  { method: 'get', path: '/api/members', summary: 'Who has which role', permission: 'members:write' },
  { method: 'post', path: '/api/members', summary: 'Makes a colleague a member, or invites somebody', permission: 'members:write' },
  { method: 'put', path: '/api/members/:memberId', summary: 'Changes a role', permission: 'members:write' },
  { method: 'delete', path: '/api/members/:memberId', summary: 'Takes a role or an invitation away', permission: 'members:write' },
  { method: 'get', path: '/api/billing', summary: 'This month, overage cap and forecast', permission: 'billing:read' },
  { method: 'put', path: '/api/billing', summary: 'Changes the hard cap of overage; If-Match', permission: 'billing:write' },
  { method: 'get', path: '/api/billing/statement', summary: 'The statement of a month, as JSON or CSV', permission: 'billing:read' },
  { method: 'get', path: '/api/alerts', summary: 'Alerts, newest first', permission: 'usage:read' },
  { method: 'get', path: '/api/webhooks', summary: 'Where alerts are sent', permission: 'policy:write' },
  { method: 'post', path: '/api/webhooks', summary: 'Adds a webhook; the answer is the only time its secret is shown', permission: 'policy:write' },
  { method: 'put', path: '/api/webhooks/:webhookId', summary: 'Changes a webhook', permission: 'policy:write' },
  { method: 'delete', path: '/api/webhooks/:webhookId', summary: 'Removes a webhook', permission: 'policy:write' },
  { method: 'get', path: '/api/webhooks/:webhookId/deliveries', summary: 'What was sent, and how it went', permission: 'policy:write' },
  { method: 'post', path: '/api/webhooks/:webhookId/test', summary: 'Sends a test alert', permission: 'policy:write' },
  { method: 'post', path: '/api/playground', summary: 'One chat call in the own name, streamed', permission: 'keys:write' },
];
