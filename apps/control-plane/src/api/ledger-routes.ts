import { z } from 'zod';
import { LedgerPage, LedgerSummary } from '@sluice/contracts';
import { AuditQuery, AuditRow, LedgerQuery, LedgerRange, type AuditLog, type LedgerReader } from './ports.ts';
import { route, type Route } from './route.ts';

/** The ledger and the audit log, both from the database. */
export function ledgerRoutes(deps: { ledger: LedgerReader; auditLog: AuditLog }): Route[] {
  return [
    route({
      method: 'get',
      path: '/api/ledger',
      auth: 'operator',
      tag: 'Ledger',
      summary: 'Rows of the ledger, newest first',
      query: LedgerQuery,
      response: LedgerPage,
      handler: ({ query }) => deps.ledger.rows(query),
    }),
    route({
      method: 'get',
      path: '/api/ledger/summary',
      auth: 'operator',
      tag: 'Ledger',
      summary: 'Sums over the ledger; all time when no range is given',
      query: LedgerRange,
      response: LedgerSummary,
      handler: ({ query }) => deps.ledger.summary(query),
    }),
    route({
      method: 'get',
      path: '/api/audit',
      auth: 'operator',
      tag: 'Audit',
      summary: 'The audit log, newest first',
      query: AuditQuery,
      response: z.object({ rows: z.array(AuditRow) }),
      handler: async ({ query }) => ({ rows: await deps.auditLog.rows(query) }),
    }),
  ];
}
