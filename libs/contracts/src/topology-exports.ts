import type { ConfigSnapshot } from './snapshot.ts';

/**
 * The tenants whose audit records go to a queue of their own, sorted. A workspace that does not override `auditExport` follows its
 * plan; a tenant exports when one of its workspaces does, or, while it has none, when its plan says so. The queue gets all of the
 * tenant's records, because most of them belong to no workspace. A suspended tenant still exports.
 */
export function exportTenants(config: Pick<ConfigSnapshot, 'tenants' | 'plans' | 'workspaces'>): string[] {
  const workspaces = Object.values(config.workspaces);
  return Object.values(config.tenants)
    .filter(({ id, plan }) => {
      const byPlan = config.plans[plan]?.policy.auditExport ?? false;
      const own = workspaces.filter((workspace) => workspace.tenant === id);
      return own.length === 0 ? byPlan : own.some((workspace) => workspace.override.auditExport ?? byPlan);
    })
    .map(({ id }) => id)
    .toSorted();
}
