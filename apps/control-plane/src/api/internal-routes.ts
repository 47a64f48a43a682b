import { z } from 'zod';
import { GatewayReport, Name, QuotaUseRequest, QuotaUseResponse } from '@sluice/contracts';
import type { GatewayReports } from '../state/gateway-reports.ts';
import type { ConfigStream } from '../stream/config-stream.ts';
import type { LedgerReader } from './ports.ts';
import { route, type Route } from './route.ts';

const StreamQuery = z.strictObject({
  gateway: Name,
  since: z.coerce.number().int().min(0).default(0),
  /** The gateway's cell; one that names none is not checked against others. */
  cell: Name.optional(),
  store: z.enum(['memory', 'valkey']).default('memory'),
});

/** What gateways ask, with their service token. */
export function internalRoutes(deps: { stream: ConfigStream; reports: GatewayReports; quotaUse: LedgerReader['quotaUse'] }): Route[] {
  return [
    route({
      method: 'get',
      path: '/internal/config/stream',
      auth: 'gateway',
      tag: 'Internal',
      summary: 'The configuration: events `snapshot`, `patch`, `watermark` and `ping`',
      query: StreamQuery,
      streams: true,
      handler: ({ res, query }) => deps.stream.serve(res, { id: query.gateway, cell: query.cell, store: query.store }, query.since),
    }),
    route({
      method: 'post',
      path: '/internal/gateways/report',
      auth: 'gateway',
      tag: 'Internal',
      summary: 'What a gateway sees, once a second',
      status: 204,
      body: GatewayReport,
      handler: ({ body }) => deps.reports.record(body),
    }),
    route({
      method: 'post',
      path: '/internal/quota-use',
      auth: 'gateway',
      tag: 'Internal',
      summary: 'What the ledger holds by key and step of time, for a gateway that lost its quota counters',
      body: QuotaUseRequest,
      response: QuotaUseResponse,
      handler: ({ body }) => deps.quotaUse(body),
    }),
  ];
}
