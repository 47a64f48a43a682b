import { readFile } from 'node:fs/promises';
import { SeedFile, type ConfigPatch } from '@sluice/contracts';
import type { Clock } from '@sluice/contracts';
import type { SecretBox } from '@sluice/service-kit';
import { applySeed } from './apply-seed.ts';
import { fieldPath } from './config-rows.ts';
import type { ConfigRepository } from './config-repository.ts';

/**
 * Reads a seed file.
 *
 * @throws Error with one sentence that names the file and every wrong field.
 */
export async function readSeedFile(path: string): Promise<SeedFile> {
  const parsed = SeedFile.safeParse(JSON.parse(await readFile(path, 'utf8')));
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `${fieldPath(issue.path)}: ${issue.message}`);
  throw new Error(`the seed file ${path} is not valid: ${faults.join('; ')}`);
}

/**
 * Fills an empty database; one that holds anything is left alone.
 *
 * @returns whether it was empty.
 * @throws Error when the seed contradicts itself.
 */
export async function seedConfig(
  deps: { repository: ConfigRepository; clock: Clock; secretBox?: SecretBox | undefined },
  seed: SeedFile,
): Promise<boolean> {
  if ((await deps.repository.load()).version !== 0) return false;
  const { patch, faults } = applySeed(seed, new Date(deps.clock.now()).toISOString(), deps.secretBox);
  if (faults.length > 0)
    throw new Error(
      `the seed contradicts itself: ${faults.map(({ path, message }) => `${path}: ${message}`).join('; ')}`,
    );
  await deps.repository.commit(patch satisfies ConfigPatch, [
    {
      type: 'config.seeded',
      actor: { kind: 'service', id: 'control-plane' },
      target: { kind: 'config', id: 'all' },
      after: { rows: patch.changes.length },
    },
  ]);
  return true;
}
