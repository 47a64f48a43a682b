import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Which process holds the lock. `startedAt` tells a reused pid from the same process (Linux: start time in ticks). */
interface Holder {
  readonly pid: number;
  readonly startedAt: string;
}

function startTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

function isAlive(holder: Holder): boolean {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const now = startTime(holder.pid);
  return now === '' || holder.startedAt === '' || now === holder.startedAt;
}

function readHolder(path: string): Holder | undefined {
  try {
    const holder: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof holder === 'object' && holder !== null && 'pid' in holder ? (holder as Holder) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Makes this process the only one that uses the folder. A lock whose process is dead is taken over.
 *
 * @returns releases the lock.
 * @throws Error when a living process holds it.
 */
export function lockFolder(dir: string): () => void {
  const path = join(dir, 'lock');
  for (let attempt = 0; ; attempt += 1) {
    try {
      const fd = openSync(path, 'wx', 0o600);
      writeSync(fd, JSON.stringify({ pid: process.pid, startedAt: startTime(process.pid) } satisfies Holder));
      closeSync(fd);
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt >= 3) throw error;
      const holder = readHolder(path);
      if (holder !== undefined && isAlive(holder)) throw new Error(`the outbox folder ${dir} is in use by process ${holder.pid}`, { cause: error });
      rmSync(path, { force: true });
    }
  }
}
