import { systemClock } from '@sluice/contracts';
import { createBreaker } from '../src/breaker.ts';
import { createSharedBreaker } from './shared-breaker.ts';

const CALLS = 100_000;
const ROUNDS = 41;
const WARM_UP = 6;
const OPTIONS = {
  failurePercent: 20,
  windowMs: 30_000,
  minimumCalls: 20,
  cooldownMs: 10_000,
  probes: 3,
  probeTimeoutMs: 60_000,
};

/** CPU time, so that what else the machine does counts less. */
const nsPerCall = (work: () => void): number => {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return ((user + system) * 1e3) / CALLS;
};
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] as number;
const shown = (values: readonly number[]): string =>
  `${median(values).toFixed(0).padStart(5)} (min ${Math.min(...values).toFixed(0)})`;

console.log(`ns of CPU a call (enter, first content, success), median of ${ROUNDS} interleaved rounds`);
for (const tenants of [1, 100, 10_000]) {
  const names = Array.from({ length: tenants }, (_, n) => `tenant-${n}`);
  const one = createSharedBreaker(systemClock, OPTIONS.windowMs);
  const judged = createBreaker({ clock: systemClock, options: OPTIONS });
  // Another order of tenants than the one that they were made in, so that nothing is near the last one in memory.
  const order = Array.from({ length: CALLS }, (_, i) => names[(i * 7_919) % tenants] as string);
  const shared: number[] = [];
  const byTenant: number[] = [];
  for (let round = 0; round < ROUNDS + WARM_UP; round++) {
    const a = nsPerCall(() => {
      for (let i = 0; i < CALLS; i++) one.tryEnter().succeed();
    });
    const b = nsPerCall(() => {
      for (let i = 0; i < CALLS; i++) {
        const pass = judged.tryEnter(order[i] as string);
        pass?.answers();
        pass?.succeed();
      }
    });
    if (round < WARM_UP) continue;
    shared.push(a);
    byTenant.push(b);
  }
  console.log(
    `${String(tenants).padStart(6)} tenants: shared by all ${shown(shared)}, judged by tenants ${shown(byTenant)}, more by ${(median(byTenant) - median(shared)).toFixed(0)}`,
  );
}

const memory = (): number => {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
/** Kept, so that what an earlier one gives back is not counted for a later one. */
const kept = [];
for (const tenants of [1_000, 10_000, 20_000]) {
  const names = Array.from({ length: tenants }, (_, n) => `another-${n}`);
  const before = memory();
  const breaker = createBreaker({ clock: systemClock, options: OPTIONS });
  for (const name of names) breaker.tryEnter(name)?.succeed();
  kept.push(names, breaker);
  const bytes = memory() - before;
  console.log(
    `${String(tenants).padStart(6)} tenants: ${(bytes / tenants).toFixed(0)} bytes a tenant and model (${breaker.report().tenants} remembered)`,
  );
}
