import { z } from 'zod';
import { AuditExport } from '@sluice/contracts';
import { route, type Route } from '../api/route.ts';
import type { AuditExports } from './audit-exports.ts';

/** What becomes of the tenants' audit exports; they are switched by `auditExport` of a plan's or workspace's policy. */
export function exportRoutes({ exports }: { exports: AuditExports }): Route[] {
  return [
    route({
      method: 'get',
      path: '/api/exports',
      auth: 'viewer',
      tag: 'Queues',
      summary: 'Every audit export, those that are switched off and not read to their end too',
      response: z.array(AuditExport),
      handler: () => exports.list,
    }),
  ];
}
