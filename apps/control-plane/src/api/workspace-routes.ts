import {
  ModelsView,
  OverviewView,
  RequestId,
  RequestsView,
  RequestView,
  SeriesView,
  UsageView,
  type Clock,
} from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { ConfigStore } from '../config/config-store.ts';
import type { GatewayReports } from '../state/gateway-reports.ts';
import { admit } from '../tenant/admit.ts';
import { modelsOf } from '../tenant/models.ts';
import { overviewOf } from '../tenant/overview.ts';
import { MAX_HOURLY_DAYS, MAX_RANGE_DAYS, rangeOf, RequestQuery, SeriesSearch, UsageSearch } from '../tenant/query.ts';
import { requestRow, requestView } from '../tenant/request-views.ts';
import type { TenantFigures } from '../tenant/tenant-figures.ts';
import { usageView } from '../tenant/usage-view.ts';
import { param } from './actor.ts';
import { revokeKey, workspaceKeyRoutes } from './key-routes.ts';
import type { LedgerReader } from './ports.ts';
import { route, type Route } from './route.ts';

const PREFIX = '/internal/workspaces';
const DAY_MS = 86_400_000;

export interface WorkspaceRouteDeps {
  readonly store: ConfigStore;
  readonly ledger: LedgerReader;
  readonly reports: GatewayReports;
  readonly clock: Clock;
  readonly figures: TenantFigures;
  /** Alerts of a workspace that are still open. */
  readonly openAlerts: (workspace: string) => Promise<number>;
}

/** What the console's backend asks in the name of a person; every handler begins with `admit`. */
export function workspaceRoutes({ store, ledger, reports, clock, figures, openAlerts }: WorkspaceRouteDeps): Route[] {
  const base = { auth: 'person', tag: 'Workspace' } as const;
  return [
    route({
      ...base,
      method: 'get',
      path: `${PREFIX}/:slug/overview`,
      summary: 'A workspace now and this month',
      response: OverviewView,
      handler: (call) =>
        overviewOf(admit(store, call, 'usage:read'), {
          snapshot: store.snapshot(),
          ledger,
          figures,
          seconds: (slug) => reports.workspaceSeconds(slug),
          openAlerts,
          nowMs: clock.now(),
        }),
    }),
    route({
      ...base,
      method: 'get',
      path: `${PREFIX}/:slug/usage`,
      summary: 'Usage in steps of time and by one property, with the period before',
      query: UsageSearch,
      response: UsageView,
      handler: (call) => {
        const { workspace, may } = admit(store, call, 'usage:read');
        const keyName = (id: string): string | undefined => {
          const { keys } = store.snapshot();
          return Object.hasOwn(keys, id) && keys[id]?.workspace === workspace.slug ? keys[id].name : undefined;
        };
        return usageView(
          workspace.slug,
          call.query,
          { usage: (query) => ledger.usage(query), groups: (range) => figures.usageGroups(range), keyName },
          clock.now(),
          may('cost:read'),
        );
      },
    }),
    route({
      ...base,
      method: 'get',
      path: `${PREFIX}/:slug/series`,
      summary: 'One figure over time, downsampled so that spikes stay',
      query: SeriesSearch,
      response: SeriesView,
      handler: (call) => {
        const { workspace, may } = admit(store, call, 'usage:read');
        const { metric, points } = call.query;
        if (metric === 'billed_nanousd' && !may('cost:read'))
          throw new ProblemError(403, 'Your role does not allow this');
        // Latencies are not in the rollups: they read every row.
        return figures.series({
          workspace: workspace.slug,
          metric,
          points,
          ...rangeOf(call.query, clock.now(), DAY_MS, metric === 'latency_ms' ? MAX_HOURLY_DAYS : MAX_RANGE_DAYS),
        });
      },
    }),
    route({
      ...base,
      method: 'get',
      path: `${PREFIX}/:slug/requests`,
      summary: 'Calls and refusals of a workspace, newest first',
      query: RequestQuery,
      response: RequestsView,
      handler: async (call): Promise<RequestsView> => {
        const { workspace, may } = admit(store, call, 'trace:read');
        // Only told bounds bound: without them the list goes back to the first call.
        if (call.query.from !== undefined || call.query.to !== undefined)
          rangeOf(call.query, clock.now(), DAY_MS, MAX_RANGE_DAYS);
        const { found, next_cursor } = await figures.requests({ ...call.query, workspace: workspace.slug });
        const sight = { keys: store.snapshot().keys, cost: may('cost:read') };
        return { rows: found.map((one) => requestRow(one, sight)), next_cursor };
      },
    }),
    route({
      ...base,
      method: 'get',
      path: `${PREFIX}/:slug/requests/:requestId`,
      summary: 'One request with its attempts',
      response: RequestView,
      handler: async (call): Promise<RequestView> => {
        const { workspace, may } = admit(store, call, 'trace:read');
        const id = RequestId.safeParse(param(call, 'requestId'));
        const { found } = id.success
          ? await figures.requests({ workspace: workspace.slug, request_id: id.data, limit: 1 })
          : { found: [] };
        if (found[0] === undefined) throw new ProblemError(404, 'Not found');
        return requestView(found[0], { keys: store.snapshot().keys, cost: may('cost:read') });
      },
    }),
    route({
      ...base,
      method: 'get',
      path: `${PREFIX}/:slug/models`,
      summary: 'Models that the workspace may use',
      response: ModelsView,
      handler: (call) => modelsOf(admit(store, call, 'usage:read'), store.snapshot()),
    }),
    ...workspaceKeyRoutes({
      store,
      clock,
      prefix: PREFIX,
      auth: { read: 'person', write: 'person' },
      admit: (call) => void admit(store, call, 'keys:write'),
    }),
    route({
      ...base,
      method: 'delete',
      path: `${PREFIX}/:slug/keys/:keyId`,
      tag: 'Keys',
      summary: 'Revoke a key of the workspace',
      status: 204,
      handler: (call) => revokeKey(store, call, param(call, 'keyId'), admit(store, call, 'keys:write').workspace.slug),
    }),
  ];
}
