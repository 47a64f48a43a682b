import type { ConfigPatch, SeedFile } from '@sluice/contracts';
import type { FieldFault, SecretBox } from '@sluice/service-kit';
import { emptySnapshot } from './config-rows.ts';
import { planPlatform } from './plan-platform.ts';

/**
 * The first version of a configuration: what applying the seed to an empty one changes. `faults` is empty when it
 * fits together.
 */
export function applySeed(
  seed: SeedFile,
  createdAt: string,
  box?: SecretBox,
): { patch: ConfigPatch; faults: readonly FieldFault[] } {
  const { changes, faults } = planPlatform({
    document: seed,
    prune: false,
    before: emptySnapshot(0),
    box,
    at: createdAt,
  });
  return { patch: { version: 1, changes: changes.map(({ table, id, value }) => ({ table, id, value })) }, faults };
}
