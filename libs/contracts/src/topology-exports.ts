import { z } from 'zod';
import type { ConfigSnapshot } from './snapshot.ts';

/**
 * The tenants whose audit records go to a queue of their own, sorted. A workspace that does not override
 * `auditExport` follows its plan; a tenant exports when one of its workspaces does, or, while it has none, when its
 * plan says so. The queue gets all of the tenant's records, because most of them belong to no workspace. A
 * suspended tenant still exports.
 */
export function exportTenants(config: Pick<ConfigSnapshot, 'tenants' | 'plans' | 'workspaces'>): string[] {
  const byPlan = (tenant: string): boolean =>
    config.plans[config.tenants[tenant]?.plan ?? '']?.policy.auditExport ?? false;
  /** Tenants with workspaces, and whether one of those exports. */
  const byWorkspaces = new Map<string, boolean>();
  for (const { tenant, override } of Object.values(config.workspaces)) {
    if (byWorkspaces.get(tenant) !== true) byWorkspaces.set(tenant, override.auditExport ?? byPlan(tenant));
  }
  return Object.keys(config.tenants)
    .filter((id) => byWorkspaces.get(id) ?? byPlan(id))
    .toSorted();
}

/** `GET /api/exports`: the audit export of one tenant. */
export const AuditExport = z.object({
  tenant: z.string(),
  queue: z.string(),
  dlq: z.string(),
  /**
   * `active`: records arrive. `pending`: wanted and not there yet. `draining`: no longer wanted; nothing arrives
   * any more, and the queue stays until all of it was read.
   */
  state: z.enum(['active', 'pending', 'draining']),
  /** Records that the tenant has not read; approximate, as SQS counts. */
  waiting: z.int().min(0),
  in_flight: z.int().min(0),
  dlq_depth: z.int().min(0),
  /** How long SQS keeps an unread record; after it the record is in the audit log only. */
  retention_s: z.int().min(1),
  /** In words, for people. */
  detail: z.string(),
});
export type AuditExport = z.infer<typeof AuditExport>;
