import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import { CONFIG_TABLES, type ConfigTable } from '@sluice/contracts';
import { savedConfigurationText } from '@sluice/service-kit';
import type { Log } from '../log.ts';
import { readConfigRows, type ConfigRows } from './config-rows.ts';
import { createSnapshotLines } from './snapshot-lines.ts';

export interface SavedRows {
  /** When they were known to be current, epoch milliseconds. */
  readonly savedAtMs: number;
  readonly rows: ConfigRows;
}

const SavedFile = z.object({ savedAtMs: z.number(), snapshot: z.unknown() });

/**
 * The last configuration on disk, or undefined when there is none that can be read. A file that `saveSnapshot`
 * wrote is read line by line, so that little more is ever in memory than what is kept; other JSON is as good, and
 * needs more.
 */
export function loadSnapshot(path: string, logger: Log): SavedRows | undefined {
  try {
    return loadLines(path, logger) ?? loadWhole(path, logger);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    logger.warn(
      { path, reason: error instanceof Error ? error.message.slice(0, 300) : 'unknown' },
      'the saved configuration cannot be read and is ignored',
    );
    return undefined;
  }
}

function loadWhole(path: string, logger: Log): SavedRows {
  const file = SavedFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  return { savedAtMs: file.savedAtMs, rows: readConfigRows(file.snapshot, logger) };
}

/** What a saved file has before and after the text of the snapshot. */
const BEFORE = /^\{"savedAtMs":(\d+(?:\.\d+)?),"snapshot":/;
const LAST_LINE = '}}';

/** Undefined when the first line is not one that `saveSnapshot` writes. */
function loadLines(path: string, logger: Log): SavedRows | undefined {
  const lines = createSnapshotLines(logger);
  let savedAtMs: number | undefined;
  for (const line of linesOf(path)) {
    if (savedAtMs === undefined) {
      const before = BEFORE.exec(line);
      if (before === null || !lines.take(line.slice(before[0].length))) return undefined;
      savedAtMs = Number(before[1]);
    } else lines.take(line === LAST_LINE ? '}' : line);
  }
  const rows = lines.finish();
  return savedAtMs === undefined || rows === undefined ? undefined : { savedAtMs, rows };
}

/** A text of this size is made and collected among the young; larger ones pile up. */
const READ_BYTES = 64 * 1024;

function* linesOf(path: string): Iterable<string> {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.allocUnsafeSlow(READ_BYTES);
    const decoder = new StringDecoder('utf8');
    let rest = '';
    for (let count = readSync(file, bytes); count > 0; count = readSync(file, bytes)) {
      const lines = (rest + decoder.write(bytes.subarray(0, count))).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    if (rest !== '') yield rest;
  } finally {
    closeSync(file);
  }
}

/**
 * Replaces the file as a whole: a crash leaves the old one or the new one. Only the owner may read it. Written in
 * pieces, so that a change among very many workspaces makes no call wait; what changes meanwhile is not in it.
 */
export async function saveSnapshot(path: string, { savedAtMs, rows }: SavedRows): Promise<void> {
  const { version, tables } = rows;
  const copies = new Map(
    CONFIG_TABLES.map((table) => [table, { ids: [...tables[table].keys()], rows: [...tables[table].values()] }]),
  );
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.new`;
  const file = await open(temporary, 'w', 0o600);
  try {
    for (const piece of savedConfigurationText(savedAtMs, { version, rowsOf })) await file.writeFile(piece);
  } finally {
    await file.close();
  }
  await rename(temporary, path);

  function* rowsOf(table: ConfigTable): Iterable<readonly [string, unknown]> {
    const copy = copies.get(table);
    for (const [i, id] of copy?.ids.entries() ?? []) yield [id, copy?.rows[i]];
  }
}
