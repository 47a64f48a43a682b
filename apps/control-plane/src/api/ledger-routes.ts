import { z } from 'zod';
import { LedgerCorrection, LedgerDifference, LedgerPage, LedgerRow, LedgerSummary } from '@sluice/contracts';
import { actorOf } from './actor.ts';
import {
  AuditPage,
  AuditQuery,
  LedgerQuery,
  LedgerRange,
  LedgerSpan,
  LedgerUsageQuery,
  UsagePoint,
  type AuditLog,
  type AuditTrail,
  type LedgerKeeper,
  type LedgerReader,
} from './ports.ts';
import { route, type Route } from './route.ts';

export interface LedgerRouteDeps {
  readonly ledger: LedgerReader;
  readonly ledgerKeeper: LedgerKeeper;
  readonly audit: AuditTrail;
  readonly auditLog: AuditLog;
}

/** The ledger and the audit log, both from the database. */
export function ledgerRoutes({ ledger, ledgerKeeper, audit, auditLog }: LedgerRouteDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/api/ledger',
      auth: 'viewer',
      tag: 'Ledger',
      summary: 'Rows of the ledger, newest first',
      query: LedgerQuery,
      response: LedgerPage,
      handler: ({ query }) => ledger.rows(query),
    }),
    route({
      method: 'get',
      path: '/api/ledger/summary',
      auth: 'viewer',
      tag: 'Ledger',
      summary: 'Sums over the ledger; all time when no range is given',
      query: LedgerRange,
      response: LedgerSummary,
      handler: ({ query }) => ledger.summary(query),
    }),
    route({
      method: 'get',
      path: '/api/ledger/usage',
      auth: 'viewer',
      tag: 'Ledger',
      summary: 'Usage in steps of time, by model and feature; of a tenant, a workspace or all',
      query: LedgerUsageQuery,
      response: z.object({ points: z.array(UsagePoint) }),
      handler: async ({ query }) => ({ points: await ledger.usage(query) }),
    }),
    route({
      method: 'post',
      path: '/api/ledger/corrections',
      auth: 'admin',
      tag: 'Ledger',
      summary: 'Add a correction of a call as a row of its own; the same one again changes nothing',
      body: LedgerCorrection,
      response: z.object({ created: z.boolean(), row: LedgerRow }),
      handler: (call) => ledgerKeeper.correct(call.body, actorOf(call)),
    }),
    route({
      method: 'get',
      path: '/api/ledger/rollups/check',
      auth: 'viewer',
      tag: 'Ledger',
      summary: 'Where hourly and daily sums differ from the rows, on the days of a range; reads every row of them',
      query: LedgerSpan,
      response: z.object({ differences: z.array(LedgerDifference) }),
      handler: async ({ query }) => ({ differences: await ledgerKeeper.checkRollups(query) }),
    }),
    route({
      method: 'post',
      path: '/api/ledger/rollups/rebuild',
      auth: 'operator',
      tag: 'Ledger',
      summary: 'Make hourly and daily sums anew from the rows, day by day, for the days of a range',
      body: LedgerSpan,
      response: z.object({ days: z.int() }),
      handler: async (call) => {
        await audit.record({
          type: 'ledger.rebuilt',
          actor: actorOf(call),
          target: { kind: 'rollups', id: 'ledger' },
          after: call.body,
        });
        return { days: await ledgerKeeper.rebuildRollups(call.body) };
      },
    }),
    route({
      method: 'get',
      path: '/api/audit',
      auth: 'viewer',
      tag: 'Audit',
      summary: 'The audit log, newest first',
      query: AuditQuery,
      response: AuditPage,
      handler: ({ query }) => auditLog.rows(query),
    }),
  ];
}
