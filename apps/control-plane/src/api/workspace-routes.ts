import { z } from 'zod';
import { LedgerRow, LedgerSummary, Limits, ROLE_PERMISSIONS, StateSecond, type Clock, type Permission, type Principal } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { ConfigStore } from '../config/config-store.ts';
import type { GatewayReports } from '../state/gateway-reports.ts';
import { param } from './actor.ts';
import { revokeKey, workspaceKeyRoutes } from './key-routes.ts';
import { monthStart } from './month-start.ts';
import { policyRoutes, requireWorkspace } from './policy-routes.ts';
import { UsagePoint, UsageQuery, WorkspaceLedgerQuery, type LedgerReader } from './ports.ts';
import { route, type Route, type RouteCall } from './route.ts';

const PREFIX = '/internal/workspaces';
const PERSON = { read: 'person', write: 'person' } as const;

/** A ledger row without what providers charge us. */
export const WorkspaceRequest = LedgerRow.omit({ cost_nanousd: true, attempts: true, gateway_id: true, epoch: true, sequence: true, kind: true, corrects: true, reason: true });
export type WorkspaceRequest = z.infer<typeof WorkspaceRequest>;

export const WorkspaceOverview = z.object({
  workspace: z.string(),
  tenant: z.object({ id: z.string(), name: z.string(), plan: z.string(), limits: Limits }),
  status: z.string(),
  /** The last 120 seconds. */
  seconds: z.array(StateSecond),
  /** This month so far, UTC. Our own cost is not in it. */
  month: LedgerSummary.omit({ cost_nanousd: true, cost_usd: true }),
});
export type WorkspaceOverview = z.infer<typeof WorkspaceOverview>;

export interface WorkspaceRouteDeps {
  readonly store: ConfigStore;
  readonly ledger: LedgerReader;
  readonly reports: GatewayReports;
  readonly clock: Clock;
}

/**
 * Scopes a call once more: the person whom the BFF has signed must hold the permission in the workspace of the path.
 *
 * @throws ProblemError 404 for a workspace that is not theirs, as for one that does not exist; 403 without the permission.
 */
export function requirePermission(principal: Principal | undefined, slug: string, permission: Permission): void {
  const role = principal !== undefined && Object.hasOwn(principal.roles, slug) ? principal.roles[slug] : undefined;
  if (role === undefined) throw new ProblemError(404, 'Not found');
  if (!ROLE_PERMISSIONS[role].includes(permission)) throw new ProblemError(403, 'Your role does not allow this');
}

/** What the BFF asks in the name of a person. */
export function workspaceRoutes({ store, ledger, reports, clock }: WorkspaceRouteDeps): Route[] {
  const admit = (call: RouteCall<unknown, unknown>, permission: Permission): string => {
    const slug = param(call, 'slug');
    requirePermission(call.principal, slug, permission);
    return requireWorkspace(store, slug).slug;
  };
  return [
    route({
      method: 'get',
      path: `${PREFIX}/:slug/overview`,
      auth: 'person',
      tag: 'Workspace',
      summary: 'A workspace now and this month',
      response: WorkspaceOverview,
      handler: async (call): Promise<WorkspaceOverview> => {
        const slug = admit(call, 'usage:read');
        const workspace = requireWorkspace(store, slug);
        const tenant = store.snapshot().tenants[workspace.tenant];
        if (tenant === undefined) throw new ProblemError(404, 'Not found');
        const { cost_nanousd: _cost, cost_usd: _costUsd, ...month } = await ledger.summary({ workspace: slug, from: monthStart(clock.now()) });
        return {
          workspace: slug,
          tenant: { id: tenant.id, name: tenant.name, plan: tenant.plan, limits: tenant.limits },
          status: workspace.status,
          seconds: reports.workspaceSeconds(slug),
          month,
        };
      },
    }),
    route({
      method: 'get',
      path: `${PREFIX}/:slug/usage`,
      auth: 'person',
      tag: 'Workspace',
      summary: 'Usage in steps of time, by model and feature',
      query: UsageQuery,
      response: z.object({ points: z.array(UsagePoint) }),
      handler: async (call) => ({ points: await ledger.usage({ ...call.query, workspace: admit(call, 'usage:read') }) }),
    }),
    route({
      method: 'get',
      path: `${PREFIX}/:slug/requests`,
      auth: 'person',
      tag: 'Workspace',
      summary: 'Calls of a workspace, newest first',
      query: WorkspaceLedgerQuery,
      response: z.object({ rows: z.array(WorkspaceRequest), next_cursor: z.string().nullable() }),
      handler: async (call) => {
        const page = await ledger.rows({ ...call.query, kind: 'call', workspace: admit(call, 'trace:read') });
        return { rows: page.rows.map((row) => WorkspaceRequest.parse(row)), next_cursor: page.next_cursor };
      },
    }),
    ...policyRoutes({ store, prefix: PREFIX, auth: PERSON, admit }),
    ...workspaceKeyRoutes({ store, clock, prefix: PREFIX, auth: PERSON, admit: (call) => admit(call, 'keys:write') }),
    route({
      method: 'delete',
      path: `${PREFIX}/:slug/keys/:keyId`,
      auth: 'person',
      tag: 'Keys',
      summary: 'Revoke a key of the workspace',
      status: 204,
      handler: (call) => revokeKey(store, call, param(call, 'keyId'), admit(call, 'keys:write')),
    }),
  ];
}
