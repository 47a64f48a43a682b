import type { SeedFile } from '@sluice/contracts';

/** One key per tenant for floods, of its first workspace that has one. Held in memory only. */
export function demoKeysByTenant(seed: Pick<SeedFile, 'keys' | 'workspaces'>): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  for (const { slug, tenant } of seed.workspaces) {
    const key = seed.keys.find(({ workspace }) => workspace === slug)?.key;
    if (key !== undefined && !keys.has(tenant)) keys.set(tenant, key);
  }
  return keys;
}
