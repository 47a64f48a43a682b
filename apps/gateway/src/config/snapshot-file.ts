import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { CONFIG_TABLES, type ConfigSnapshot, type ConfigTable } from '@sluice/contracts';
import type { Log } from '../log.ts';
import { createSnapshotBuilder, readConfigSnapshot, savedSnapshotText } from '@sluice/service-kit';

export interface SavedSnapshot {
  /** When it was known to be current, epoch milliseconds. */
  readonly savedAtMs: number;
  readonly snapshot: ConfigSnapshot;
}

const SavedFile = z.object({ savedAtMs: z.number(), snapshot: z.unknown() });

/**
 * The last snapshot on disk, or undefined when there is none that can be read. A file that `saveSnapshot` wrote is read line
 * by line; other JSON is as good, and needs more memory.
 */
export function loadSnapshot(path: string, logger: Log): SavedSnapshot | undefined {
  try {
    return loadLines(path, logger) ?? loadWhole(path, logger);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    logger.warn({ path, reason: error instanceof Error ? error.message.slice(0, 300) : 'unknown' }, 'the saved configuration cannot be read and is ignored');
    return undefined;
  }
}

function loadWhole(path: string, logger: Log): SavedSnapshot {
  const file = SavedFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  return { savedAtMs: file.savedAtMs, snapshot: readConfigSnapshot(file.snapshot, logger) };
}

const HEAD = /^\{"savedAtMs":(\d+(?:\.\d+)?),"snapshot":\{"version":(\d+)$/;
const TABLE = /^,"([a-zA-Z]+)":\{$/;

/** Undefined when the lines are not those that `saveSnapshot` writes. */
function loadLines(path: string, logger: Log): SavedSnapshot | undefined {
  const builder = createSnapshotBuilder(logger);
  let head: RegExpExecArray | null = null;
  let table: ConfigTable | undefined;
  let ended = false;
  for (const line of linesOf(path)) {
    if (head === null) {
      head = HEAD.exec(line);
      if (head === null) return undefined;
    } else if (line.startsWith('"') && table !== undefined) {
      const [row] = Object.entries(JSON.parse(`{${line.endsWith(',') ? line.slice(0, -1) : line}}`) as object);
      if (row !== undefined) builder.add(table, row[0], row[1]);
    } else if (line === '}') table = undefined;
    else if (line === '}}') ended = true;
    else {
      table = CONFIG_TABLES.find((name) => name === TABLE.exec(line)?.[1]);
      if (table === undefined) return undefined;
    }
  }
  return head === null || !ended ? undefined : { savedAtMs: Number(head[1]), snapshot: builder.build(Number(head[2])) };
}

const READ_BYTES = 1024 * 1024;

function* linesOf(path: string): Iterable<string> {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.allocUnsafeSlow(READ_BYTES);
    const decoder = new TextDecoder();
    let rest = '';
    for (let count = readSync(file, bytes); count > 0; count = readSync(file, bytes)) {
      const lines = (rest + decoder.decode(bytes.subarray(0, count), { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    if (rest !== '') yield rest;
  } finally {
    closeSync(file);
  }
}

/**
 * Replaces the file as a whole: a crash leaves the old one or the new one. Only the owner may read it. Written in pieces, so
 * that a change among very many workspaces makes no call wait.
 */
export async function saveSnapshot(path: string, saved: SavedSnapshot): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.new`;
  const file = await open(temporary, 'w', 0o600);
  try {
    for (const piece of savedSnapshotText(saved)) await file.writeFile(piece);
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}
