import { existsSync, lstatSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive, signal } from '../supervisor/process-identity.ts';
import { stopProcess } from '../supervisor/stop-process.ts';
import { readState } from '../supervisor/supervisor-state.ts';
import { stackFiles } from './settings.ts';

const SUPERVISOR_GRACE_MS = 60_000;
const PART_GRACE_MS = 15_000;

/**
 * Stops what `up` started from here, in reverse order, by pid and time of start. Works when the supervisor is gone too.
 *
 * @returns the names of the parts that ran.
 */
export async function stopStack(dataDir: string): Promise<string[]> {
  const files = stackFiles(dataDir);
  const before = readState(files.state);
  if (before === undefined) return [];
  const stopped = before.parts
    .filter((part) => part.process !== undefined && isAlive(part.process))
    .map((part) => part.name);
  if (signal(before.supervisor, 'SIGTERM')) {
    const until = performance.now() + SUPERVISOR_GRACE_MS;
    while (isAlive(before.supervisor) && performance.now() < until) await delay(50);
    signal(before.supervisor, 'SIGKILL');
  }
  // What an orderly supervisor left is nothing; what a dead one left is everything.
  const after = readState(files.state) ?? before;
  for (const part of [...before.parts, ...after.parts].toReversed()) {
    if (part.process !== undefined) await stopProcess(part.process, PART_GRACE_MS);
  }
  for (const path of [files.stack, files.state, files.webReady]) rmSync(path, { force: true });
  return stopped;
}

/** Removes everything that the stack wrote, a database that had to be put elsewhere included. */
export function removeData(dataDir: string): void {
  if (!existsSync(dataDir)) return;
  const database = join(dataDir, 'postgres');
  if (lstatSync(database, { throwIfNoEntry: false })?.isSymbolicLink())
    rmSync(readlinkSync(database), { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}
