import { z } from 'zod';
import {
  CorrectionCounts,
  GatewayReport,
  inputTokens,
  KeySpend,
  Name,
  outputTokens,
  QuotaAuditRequest,
  QuotaAuditResponse,
  QuotaUseRequest,
  QuotaUseResponse,
  type Clock,
  type LedgerSummary,
  type Spend,
} from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { ConfigStore } from '../config/config-store.ts';
import type { GatewayReports } from '../state/gateway-reports.ts';
import type { ConfigStream } from '../stream/config-stream.ts';
import { param } from './actor.ts';
import { monthStart } from './month-start.ts';
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
export function internalRoutes(deps: {
  stream: ConfigStream;
  reports: GatewayReports;
  store: ConfigStore;
  ledger: LedgerReader;
  clock: Clock;
}): Route[] {
  return [
    route({
      method: 'get',
      path: '/internal/config/stream',
      auth: 'gateway',
      tag: 'Internal',
      summary: 'The configuration: events `snapshot`, `patch`, `watermark` and `ping`',
      query: StreamQuery,
      streams: true,
      handler: ({ res, query }) =>
        deps.stream.serve(res, { id: query.gateway, cell: query.cell, store: query.store }, query.since),
    }),
    route({
      method: 'get',
      path: '/internal/router/config',
      auth: 'router',
      tag: 'Internal',
      summary: 'The configuration for the router: events `snapshot`, `patch` and `ping`',
      query: z.strictObject({ since: z.coerce.number().int().min(0).default(0) }),
      streams: true,
      handler: ({ res, query }) => deps.stream.follow(res, query.since),
    }),
    route({
      method: 'post',
      path: '/internal/gateways/report',
      auth: 'gateway',
      tag: 'Internal',
      summary: 'What a gateway sees, once a second',
      status: 204,
      body: GatewayReport,
      // One of a gateway with many workspaces.
      maxBodyBytes: 4 * 1024 * 1024,
      handler: ({ body }) => deps.reports.record(body),
    }),
    route({
      method: 'post',
      path: '/internal/quota-use',
      auth: 'gateway',
      tag: 'Internal',
      summary: 'What the ledger holds by key and step of time, for a gateway that lost its quota counters',
      body: QuotaUseRequest,
      maxBodyBytes: 4 * 1024 * 1024,
      response: QuotaUseResponse,
      handler: ({ body }) => deps.ledger.quotaUse(body),
    }),
    route({
      method: 'post',
      path: '/internal/quota-audit',
      auth: 'gateway',
      tag: 'Internal',
      summary: 'What the ledger holds of the calls that are in the quota counters of some levels',
      body: QuotaAuditRequest,
      maxBodyBytes: 4 * 1024 * 1024,
      response: QuotaAuditResponse,
      handler: ({ body }) => deps.ledger.quotaAudit(body),
    }),
    route({
      method: 'get',
      path: '/internal/corrections',
      auth: 'gateway',
      tag: 'Internal',
      summary: 'How many corrections the calls of each key have had lately',
      response: CorrectionCounts,
      handler: () => deps.ledger.corrections(deps.clock.now()),
    }),
    route({
      method: 'get',
      path: '/internal/keys/:keyId/spend',
      auth: 'gateway',
      tag: 'Internal',
      summary: "What a key and its workspace spent this month; gateways ask in the key's name",
      response: KeySpend,
      handler: async (call): Promise<KeySpend> => {
        const keyId = param(call, 'keyId');
        const keys = deps.store.snapshot().keys;
        const key = Object.hasOwn(keys, keyId) ? keys[keyId] : undefined;
        if (key === undefined) throw new ProblemError(404, 'Not found');
        const nowMs = deps.clock.now();
        const since = monthStart(nowMs);
        const [own, workspace] = await Promise.all([
          deps.ledger.summary({ workspace: key.workspace, key: keyId, from: since }),
          deps.ledger.summary({ workspace: key.workspace, from: since }),
        ]);
        return { since, as_of: new Date(nowMs).toISOString(), key: spendOf(own), workspace: spendOf(workspace) };
      },
    }),
  ];
}

function spendOf({ calls, tokens, billed_nanousd }: LedgerSummary): Spend {
  return { calls, input_tokens: inputTokens(tokens), output_tokens: outputTokens(tokens), billed_nanousd };
}
