import { execFileSync } from 'node:child_process';
import { readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** How long a server may take to end on each signal, milliseconds. */
const FAST_MS = 15_000;
const LOOK_MS = 50;

/**
 * Ends a server that still runs on a data folder (its parent was killed), and clears the lock file of one that is gone.
 * A process that merely got the same number is left alone.
 *
 * @throws Error when the server does not end.
 */
export async function stopOrphan(dataFolder: string): Promise<'none' | 'stale' | 'stopped'> {
  const lock = join(dataFolder, 'postmaster.pid');
  const text = await readFile(lock, 'utf8').catch(() => undefined);
  if (text === undefined) return 'none';
  const pid = Number(text.split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 1 || !(await servesFolder(pid, dataFolder))) {
    await rm(lock, { force: true });
    return 'stale';
  }
  // Fast shutdown, then immediate: the next start recovers from the log.
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    send(pid, signal);
    for (let waited = 0; waited < FAST_MS; waited += LOOK_MS) {
      if (!(await servesFolder(pid, dataFolder))) return 'stopped';
      await delay(LOOK_MS);
    }
  }
  throw new Error(`the PostgreSQL process ${pid} still runs on ${dataFolder} and does not stop`);
}

/** A server's working folder is its data folder. */
async function servesFolder(pid: number, dataFolder: string): Promise<boolean> {
  if (process.platform === 'linux') {
    const folder = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
    return folder !== undefined && folder === (await realpath(dataFolder));
  }
  try {
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).includes(dataFolder);
  } catch {
    return false;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended meanwhile.
  }
}
