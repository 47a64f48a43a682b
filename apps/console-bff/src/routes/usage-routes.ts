import {
  ModelsView,
  OverviewView,
  RequestId,
  RequestsView,
  RequestView,
  SeriesView,
  TenantModels,
  TenantOverview,
  TenantRequest,
  TenantRequests,
  TenantSeries,
  TenantUsage,
  UsageView,
} from '@sluice/contracts';
import { usageCsv } from '../csv.ts';
import { projectOverview } from '../views/overview-view.ts';
import { projectRequest, projectRequests } from '../views/request-view.ts';
import { projectModels, projectSeries, projectUsage } from '../views/usage-view.ts';
import { NoQuery, RequestsQuery, SeriesQuery, UsageQuery } from './query.ts';
import { missing, shown, type ScopedRoute } from './scoped-route.ts';

export const USAGE_ROUTES: readonly ScopedRoute[] = [
  {
    method: 'get',
    path: '/api/overview',
    summary: 'The last two minutes, this month, limits and how full they are, and what is switched off',
    permission: 'usage:read',
    query: NoQuery,
    view: OverviewView,
    async answer(controlPlane, { scope, sight }) {
      const found = await controlPlane.read(TenantOverview, scope, '/overview');
      return found === undefined ? missing : shown(projectOverview(found.value, sight));
    },
  },
  {
    method: 'get',
    path: '/api/usage',
    summary: 'Calls, tokens and cost by time and by one property, with the period before; JSON or CSV',
    permission: 'usage:read',
    query: UsageQuery,
    view: UsageView,
    async answer(controlPlane, { scope, sight, query }) {
      const { format, ...asked } = query;
      const found = await controlPlane.read(TenantUsage, scope, '/usage', asked);
      if (found === undefined) return missing;
      const view = UsageView.parse(projectUsage(found.value, sight));
      return format === 'csv'
        ? { kind: 'csv', text: usageCsv(view), name: `usage-${scope.slug}-${view.by}.csv` }
        : shown(view);
    },
  },
  {
    method: 'get',
    path: '/api/series',
    summary: 'One figure over time, downsampled so that spikes stay; billed_nanousd needs cost:read',
    permission: 'usage:read',
    query: SeriesQuery,
    view: SeriesView,
    async answer(controlPlane, { scope, sight, query }) {
      const found = await controlPlane.read(TenantSeries, scope, '/series', query);
      return found === undefined ? missing : shown(projectSeries(found.value, sight));
    },
  },
  {
    method: 'get',
    path: '/api/requests',
    summary: 'Single requests and refusals, newest first, with why each did not end well and what helps',
    permission: 'trace:read',
    query: RequestsQuery,
    view: RequestsView,
    async answer(controlPlane, { scope, sight, query }) {
      const found = await controlPlane.read(TenantRequests, scope, '/requests', query);
      return found === undefined ? missing : shown(projectRequests(found.value, sight));
    },
  },
  {
    method: 'get',
    path: '/api/requests/:requestId',
    summary: 'One request, with its attempts',
    permission: 'trace:read',
    query: NoQuery,
    view: RequestView,
    async answer(controlPlane, { scope, sight, params }) {
      const id = RequestId.safeParse(params['requestId']);
      const found = id.success ? await controlPlane.read(TenantRequest, scope, `/requests/${id.data}`) : undefined;
      return found === undefined ? missing : shown(projectRequest(found.value, sight));
    },
  },
  {
    method: 'get',
    path: '/api/models',
    summary: 'The models that the workspace may use',
    permission: 'usage:read',
    query: NoQuery,
    view: ModelsView,
    async answer(controlPlane, { scope, sight }) {
      const found = await controlPlane.read(TenantModels, scope, '/models');
      return found === undefined ? missing : shown(projectModels(found.value, sight));
    },
  },
];
