import { readFileSync } from 'node:fs';
import { declareTopology, exportTenants, SeedFile, TOPOLOGY, type Topology } from '@sluice/contracts';

/**
 * The topology that the seed file's tenants want, so that their export queues are there before the first audit
 * record; the demo's without a file. What an operator changed since is brought in step by the control plane.
 *
 * @throws when the file cannot be read or is not a seed file.
 */
export function seededTopology(path: string | undefined): Topology {
  if (path === undefined) return TOPOLOGY;
  const seed = SeedFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  const byId = <T extends { readonly id: string }>(rows: readonly T[]): Record<string, T> =>
    Object.fromEntries(rows.map((row) => [row.id, row]));
  const workspaces = Object.fromEntries(seed.workspaces.map((workspace) => [workspace.slug, workspace]));
  return declareTopology(exportTenants({ tenants: byId(seed.tenants), plans: byId(seed.plans), workspaces }));
}
