import type { Segment } from './segment.ts';

/** How many bytes on disk belong to each tenant, in all its workspaces, so that none of them fills the outbox alone. */
export interface TenantShares {
  add(segment: Segment, tenantId: string, bytes: number): void;
  /** The segment is deleted. */
  drop(segment: Segment): void;
  /** The tenant has used up what one may have. */
  full(tenantId: string): boolean;
}

/**
 * @param shareBytes what one tenant may have on disk; at least two segments, or one that is written would fill it.
 * @param dedicatedTo the tenant for whom alone this outbox is, and who may fill it; it may change.
 */
export function createTenantShares(
  segments: readonly Segment[],
  shareBytes: number,
  dedicatedTo: () => string | undefined = () => undefined,
): TenantShares {
  const bytesOf = new Map<string, number>();
  const count = (tenantId: string, bytes: number): void => {
    const total = (bytesOf.get(tenantId) ?? 0) + bytes;
    if (total > 0) bytesOf.set(tenantId, total);
    else bytesOf.delete(tenantId);
  };
  for (const { byTenant } of segments) for (const [tenantId, bytes] of byTenant) count(tenantId, bytes);
  return {
    add(segment, tenantId, bytes) {
      segment.byTenant.set(tenantId, (segment.byTenant.get(tenantId) ?? 0) + bytes);
      count(tenantId, bytes);
    },
    drop(segment) {
      for (const [tenantId, bytes] of segment.byTenant) count(tenantId, -bytes);
    },
    full: (tenantId) => (bytesOf.get(tenantId) ?? 0) >= shareBytes && dedicatedTo() !== tenantId,
  };
}
