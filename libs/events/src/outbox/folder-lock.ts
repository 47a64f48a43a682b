import {
  linkSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** Who holds the folder. `startedAt` tells a reused pid from the same process (Linux: start time in ticks). */
interface Holder {
  readonly pid: number;
  readonly startedAt: string;
  /** Machine and pid namespace: only there does the pid mean something. */
  readonly place: string;
  readonly released?: true;
}

export interface FolderLock {
  /**
   * Shows processes elsewhere (another container on the same volume) that this one lives; to be called each second.
   * False when one of them has taken the folder over because this process was silent for too long.
   */
  beat(): boolean;
  release(): void;
}

const NAME = /^lock-(\d{10})$/;
/** A holder elsewhere that shows no life for this long is dead. */
const SILENT_MS = 5000;
const LOOK_MS = 100;

/**
 * Makes this process the only one that uses the folder. Each holder makes a file with a number of its own, in one
 * step, and the highest number holds; a dead holder's number is never used again, so that two that take over at
 * once cannot both succeed.
 *
 * @param silentMs how long a holder of another container is watched, which blocks: only at boot, only where one was
 * killed there.
 * @throws Error when a living process holds it.
 */
export function lockFolder(dir: string, silentMs: number = SILENT_MS): FolderLock {
  const place = placeOfThisProcess();
  const own: Holder = { pid: process.pid, startedAt: startTime(process.pid), place };
  for (;;) {
    const highest = highestLock(dir);
    if (highest > 0) {
      const holder = livingHolder(lockPath(dir, highest), place, silentMs);
      if (holder !== undefined) throw new Error(`the outbox folder ${dir} is in use by process ${holder}`);
    }
    const path = lockPath(dir, highest + 1);
    if (!createWith(dir, path, own)) continue;
    if (highestLock(dir) > highest + 1) {
      rmSync(path, { force: true });
      continue;
    }
    for (const name of readdirSync(dir))
      if (NAME.test(name) && join(dir, name) < path) rmSync(join(dir, name), { force: true });
    return {
      beat() {
        if (highestLock(dir) !== highest + 1) return false;
        utimesSync(path, new Date(), new Date());
        return true;
      },
      // The number stays taken: who judged an earlier holder dead must not take it.
      release: () => writeFileSync(path, JSON.stringify({ ...own, released: true } satisfies Holder)),
    };
  }
}

const lockPath = (dir: string, number: number): string => join(dir, `lock-${String(number).padStart(10, '0')}`);

function highestLock(dir: string): number {
  return readdirSync(dir).reduce((highest, name) => Math.max(highest, Number(NAME.exec(name)?.[1] ?? 0)), 0);
}

/** Makes the file with its content in one step; false when another has it. */
function createWith(dir: string, path: string, holder: Holder): boolean {
  const temporary = join(dir, `lock-new-${holder.pid}-${process.hrtime.bigint()}`);
  writeFileSync(temporary, JSON.stringify(holder), { mode: 0o600 });
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** The holder in words; undefined when it is dead, has released, or the file is gone. */
function livingHolder(path: string, place: string, silentMs: number): string | undefined {
  const holder = readHolder(path);
  if (holder === undefined || holder.released === true) return undefined;
  if (holder.place === place) return isAlive(holder) ? String(holder.pid) : undefined;
  const seenAt = modifiedAt(path);
  for (let waited = 0; waited < silentMs; waited += LOOK_MS) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
    if (modifiedAt(path) !== seenAt) return `${holder.pid} of ${holder.place}`;
  }
  return undefined;
}

function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function readHolder(path: string): Holder | undefined {
  try {
    const holder: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof holder === 'object' && holder !== null && 'pid' in holder ? (holder as Holder) : undefined;
  } catch {
    return undefined;
  }
}

function placeOfThisProcess(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
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
