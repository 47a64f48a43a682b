import { setTimeout as delay } from 'node:timers/promises';
import { groupMembers, isAlive, signal, type ProcessIdentity } from './process-identity.ts';

const POLL_MS = 20;

async function goneWithin(ms: number, alive: () => boolean): Promise<boolean> {
  const until = performance.now() + ms;
  while (alive()) {
    if (performance.now() >= until) return false;
    await delay(POLL_MS);
  }
  return true;
}

/**
 * Stops a process that leads a group of its own, and what it left behind in that group: SIGTERM, and SIGKILL after
 * `graceMs`. A process that has taken over the number since is not touched.
 */
export async function stopProcess(leader: ProcessIdentity, graceMs: number): Promise<void> {
  signal(leader, 'SIGTERM');
  await goneWithin(graceMs, () => isAlive(leader));
  const left = groupMembers(leader);
  if (left.length === 0) return;
  for (const member of left) if (member.pid !== leader.pid) signal(member, 'SIGTERM');
  if (!isAlive(leader) && (await goneWithin(Math.min(graceMs, 3_000), () => groupMembers(leader).length > 0))) return;
  for (const member of groupMembers(leader)) signal(member, 'SIGKILL');
  await goneWithin(2_000, () => groupMembers(leader).length > 0);
}
