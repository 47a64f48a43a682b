import { applyPatch, type ApiKeyRecord, type ConfigPatch, type SeedFile } from '@sluice/contracts';
import { emptySnapshot, type RowFault } from './config-rows.ts';
import { digestOf } from './api-key.ts';
import { findFaults } from './find-faults.ts';

/** The first version of a configuration, from a seed: keys become digests. `faults` is empty when it fits together. */
export function applySeed(seed: SeedFile, createdAt: string): { patch: ConfigPatch; faults: RowFault[] } {
  const keys = seed.keys.map(
    (key): ApiKeyRecord => ({ keyId: key.keyId, digest: digestOf(key.key), workspace: key.workspace, name: key.name, createdAt, tags: {} }),
  );
  const changes: ConfigPatch['changes'] = [
    ...seed.cells.map((value) => ({ table: 'cells' as const, id: value.id, value })),
    ...seed.plans.map((value) => ({ table: 'plans' as const, id: value.id, value })),
    ...seed.tenants.map((value) => ({ table: 'tenants' as const, id: value.id, value })),
    ...seed.workspaces.map((value) => ({ table: 'workspaces' as const, id: value.slug, value })),
    ...seed.providers.map((value) => ({ table: 'providers' as const, id: value.id, value })),
    ...seed.models.map((value) => ({ table: 'models' as const, id: value.id, value })),
    ...keys.map((value) => ({ table: 'keys' as const, id: value.keyId, value })),
  ];
  const patch: ConfigPatch = { version: 1, changes };
  return { patch, faults: findFaults(applyPatch(emptySnapshot(0), patch)) };
}
