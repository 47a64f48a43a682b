import { readFileSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { ConfigSnapshot } from '@sluice/contracts';
import type { Log } from '../log.ts';
import { readConfigSnapshot } from '@sluice/service-kit';

export interface SavedSnapshot {
  /** When it was known to be current, epoch milliseconds. */
  readonly savedAtMs: number;
  readonly snapshot: ConfigSnapshot;
}

const SavedFile = z.object({ savedAtMs: z.number(), snapshot: z.unknown() });

/** The last snapshot on disk, or undefined when there is none that can be read. */
export function loadSnapshot(path: string, logger: Log): SavedSnapshot | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
  try {
    const file = SavedFile.parse(JSON.parse(text));
    return { savedAtMs: file.savedAtMs, snapshot: readConfigSnapshot(file.snapshot, logger) };
  } catch (error) {
    logger.warn({ path, reason: error instanceof Error ? error.message.slice(0, 300) : 'unknown' }, 'the saved configuration cannot be read and is ignored');
    return undefined;
  }
}

/** Replaces the file as a whole: a crash leaves the old one or the new one. Only the owner may read it. */
export async function saveSnapshot(path: string, saved: SavedSnapshot): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.new`;
  await writeFile(temporary, JSON.stringify(saved), { mode: 0o600 });
  await rename(temporary, path);
}
