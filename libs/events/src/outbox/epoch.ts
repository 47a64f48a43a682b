import { join } from 'node:path';
import type { Clock } from '@sluice/contracts';
import { readJsonFile, writeFileAtomic } from './small-file.ts';

const FILE = 'epoch.json';

/**
 * Begins a new epoch: the wall clock in milliseconds, or one more than the last on this disk where the clock has
 * been set back. A gateway whose disk was lost thus takes no number that it had before, so that no acknowledgement
 * of the lost one fits it.
 *
 * @param lastOnDisk largest epoch of a segment, 0 when there is none.
 */
export function beginEpoch(dir: string, lastOnDisk: number, clock: Clock): { epoch: number; first: boolean } {
  const saved = (readJsonFile(join(dir, FILE)) as { epoch?: unknown } | undefined)?.epoch;
  const last = Math.max(typeof saved === 'number' ? saved : 0, lastOnDisk);
  const epoch = Math.max(Math.floor(clock.now()), last + 1);
  writeFileAtomic(join(dir, FILE), JSON.stringify({ epoch }));
  return { epoch, first: last === 0 };
}
