import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

/** A process that cannot be mistaken for a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque; differs between two processes that had the same number. */
  readonly startTime: string;
}

interface ProcessStat {
  readonly state: string;
  readonly group: number;
  readonly startTime: string;
}

const hasProc = process.platform === 'linux';

/** Fields of /proc/<pid>/stat after the name in parentheses, which may itself hold spaces and parentheses. */
function readStat(pid: number): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? 'X', group: Number(fields[2]), startTime: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}

function startTimeByPs(pid: number): string | undefined {
  try {
    return (
      execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim() || undefined
    );
  } catch {
    return undefined;
  }
}

/** Identity of a running process; undefined when there is none, or only a zombie. */
export function identify(pid: number): ProcessIdentity | undefined {
  if (!hasProc) {
    const startTime = startTimeByPs(pid);
    return startTime === undefined ? undefined : { pid, startTime };
  }
  const stat = readStat(pid);
  return stat === undefined || stat.state === 'Z' || stat.state === 'X'
    ? undefined
    : { pid, startTime: stat.startTime };
}

/** True while exactly that process runs. */
export function isAlive(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.startTime === identity.startTime;
}

/**
 * What is left of the process group that `leader` led. Empty when its number belongs to another process by now, so that
 * a foreign group is never taken for ours.
 */
export function groupMembers(leader: ProcessIdentity): ProcessIdentity[] {
  if (!hasProc) return isAlive(leader) ? [leader] : [];
  const holder = identify(leader.pid);
  if (holder !== undefined && holder.startTime !== leader.startTime) return [];
  const members: ProcessIdentity[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const stat = readStat(pid);
    if (stat?.group !== leader.pid || stat.state === 'Z') continue;
    // Older than the leader cannot be its descendant.
    if (Number(stat.startTime) >= Number(leader.startTime)) members.push({ pid, startTime: stat.startTime });
  }
  return members;
}

/** Sends a signal when exactly that process still runs. */
export function signal(identity: ProcessIdentity, name: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    return process.kill(identity.pid, name);
  } catch {
    return false;
  }
}
