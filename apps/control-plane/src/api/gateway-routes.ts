import { z } from 'zod';
import { GatewayReport } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { GatewayReports } from '../state/gateway-reports.ts';
import type { ConfigStream } from '../stream/config-stream.ts';
import type { ConfigStore } from '../config/config-store.ts';
import { param } from './actor.ts';
import { page, PAGE_FIELDS, pageOf } from './paging.ts';
import { route, type Route } from './route.ts';

/** A gateway as it reports itself, with how far its configuration is behind. */
export const GatewayView = GatewayReport.omit({ seconds: true }).extend({
  id: z.string(),
  /** Reported within the last 3.5 s. */
  live: z.boolean(),
  /** Follows the configuration stream now. */
  streaming: z.boolean(),
  /** Versions between what it runs and what is current; 0 when it is up to date. */
  versions_behind: z.int(),
});
type GatewayView = z.infer<typeof GatewayView>;

/** Gateways that have reported within the last 15 minutes. */
export function gatewayRoutes(deps: {
  store: ConfigStore;
  reports: GatewayReports;
  stream: Pick<ConfigStream, 'connected'>;
}): Route[] {
  const views = (): GatewayView[] => {
    const connected = new Set(deps.stream.connected);
    return deps.reports.gateways().map(({ report: { seconds: _seconds, ...report }, live }) => ({
      ...report,
      id: report.gateway_id,
      live,
      streaming: connected.has(report.gateway_id),
      versions_behind: Math.max(0, deps.store.version - report.config_version),
    }));
  };
  return [
    route({
      method: 'get',
      path: '/api/gateways',
      auth: 'viewer',
      tag: 'Gateways',
      summary: 'Gateways with the configuration version that they run',
      query: z.strictObject({
        ...PAGE_FIELDS,
        cell: z.string().max(128).optional(),
        live: z.enum(['true', 'false']).optional(),
      }),
      response: pageOf(GatewayView),
      handler: ({ query }) =>
        page(
          views().filter(
            (view) =>
              (query.cell === undefined || view.cell_id === query.cell) &&
              (query.live === undefined || String(view.live) === query.live),
          ),
          query,
        ),
    }),
    route({
      method: 'get',
      path: '/api/gateways/:id',
      auth: 'viewer',
      tag: 'Gateways',
      summary: 'One gateway',
      response: GatewayView,
      handler: (call) => {
        const found = views().find(({ id }) => id === param(call, 'id'));
        if (found === undefined) throw new ProblemError(404, 'Not found');
        return found;
      },
    }),
  ];
}
