import { systemClock, type LimitScope, type Limits } from '@sluice/contracts';
import { findRedisServer, startRedis } from '@sluice/testing';
import {
  createFairQueue,
  createMemoryLimitStore,
  createSlotPool,
  createValkeyLimitStore,
  TokenBucket,
} from '../src/index.ts';
import { bench, bytesPerOperation, cpuPerOperation } from './run.ts';

const OPERATIONS = 300_000;
const TENANTS = 1_000;

const limits: Limits = {
  requests: { perSecond: 1e9, burst: 1e9 },
  tokens: { perMinute: 1e12 },
  concurrency: { inFlight: 1_000, queued: 1_000 },
  quotas: [
    {
      id: 'hour',
      meter: 'total_tokens',
      span: { kind: 'rolling', seconds: 3_600, steps: 12 },
      limit: 1e15,
      mode: 'hard',
      alertAtPercent: [],
    },
    {
      id: 'month',
      meter: 'cost_nanousd',
      span: { kind: 'calendar', period: 'month' },
      limit: 1e15,
      mode: 'hard',
      alertAtPercent: [],
    },
  ],
};

function scopeOf(n: number): LimitScope {
  return {
    tenantId: `t${n}`,
    timeZone: 'Europe/Berlin',
    levels: [
      { level: 'tenant', id: `t${n}`, limits },
      { level: 'workspace', id: `w${n}`, limits },
      { level: 'key', id: `k${n}`, limits },
    ],
  };
}

const buckets = new Map(
  Array.from({ length: TENANTS }, (_, n) => [`t${n}`, new TokenBucket(1e9, 1e6, systemClock.monotonic())]),
);
const names = [...buckets.keys()];
const takeFromBuckets = (): void => {
  for (let i = 0; i < OPERATIONS; i++) {
    const bucket = buckets.get(names[i % TENANTS] ?? '');
    const now = systemClock.monotonic();
    if (bucket?.has(1, now)) bucket.take(1, now);
  }
};
const readClock = (): void => {
  for (let i = 0; i < OPERATIONS; i++)
    if (systemClock.monotonic() < 0) throw new Error('a monotonic clock does not go below 0');
};
bench('token bucket, with look-up and clock', OPERATIONS, takeFromBuckets);
bytesPerOperation('the clock alone', OPERATIONS, readClock);
bytesPerOperation('token bucket, with look-up and clock', OPERATIONS, takeFromBuckets);

const scopes = Array.from({ length: TENANTS }, (_, n) => scopeOf(n));
const usage = { input: 120, cache_read: 0, cache_write: 0, output: 80, reasoning: 0, audio: 0 };
const reservation = { inputTokens: 130, outputTokens: 256, costNanoUsd: 9_000 };
const store = createMemoryLimitStore({ clock: systemClock });
bench('admit + settle, 3 levels, 2 buckets and 2 quotas each', OPERATIONS, () => {
  for (let i = 0; i < OPERATIONS; i++) {
    const result = store.admit({ leaseId: 'req', scope: scopes[i % TENANTS] as LimitScope, reservation });
    if (result.admitted) store.settle(result.lease, { kind: 'used', usage, costNanoUsd: 7_000 });
  }
});

const pool = createSlotPool({ slots: 200, clock: systemClock });
bench('slot acquire + release, nobody waiting', OPERATIONS, () => {
  for (let i = 0; i < OPERATIONS; i++) {
    const lease = pool.acquire({
      tenantId: names[i % TENANTS] ?? '',
      workspaceId: 'w',
      priority: 'standard',
      costTokens: 386,
      timeoutMs: 1_000,
    });
    if (!(lease instanceof Promise)) lease.release();
  }
});

const queues = [100, 10_000].map((waiting) => {
  const queue = createFairQueue<number>();
  for (let i = 0; i < waiting; i++)
    queue.push({ tenantId: `t${i}`, workspaceId: 'w', priority: 'standard', costTokens: 386, value: i });
  return { waiting, queue };
});
for (const { waiting, queue } of queues) {
  bench(`fair queue push + pop, ${waiting} tenants waiting`, 20_000, () => {
    for (let i = 0; i < 20_000; i++) {
      const entry = queue.pop();
      if (entry !== undefined) queue.push(entry);
    }
  });
}

bench('admit + settle, one after another of 1,000 workspaces', 100_000, () => {
  for (let i = 0; i < 100_000; i++) {
    const result = store.admit({ leaseId: 'req', scope: scopes[i % TENANTS] as LimitScope, reservation });
    if (result.admitted) store.settle(result.lease, { kind: 'used', usage, costNanoUsd: 7_000 });
  }
});
const many = createMemoryLimitStore({ clock: systemClock });
const manyScopes = Array.from({ length: 100_000 }, (_, n) => scopeOf(n));
for (const scope of manyScopes) many.view(scope);
bench('admit + settle, 1,000 busy workspaces among 100,000', 100_000, () => {
  for (let i = 0; i < 100_000; i++) {
    const result = many.admit({ leaseId: 'req', scope: manyScopes[(i % TENANTS) * 100] as LimitScope, reservation });
    if (result.admitted) many.settle(result.lease, { kind: 'used', usage, costNanoUsd: 7_000 });
  }
});
bench('admit + settle, one after another of 100,000 workspaces (none in the processor’s cache)', 100_000, () => {
  for (const scope of manyScopes) {
    const result = many.admit({ leaseId: 'req', scope, reservation });
    if (result.admitted) many.settle(result.lease, { kind: 'used', usage, costNanoUsd: 7_000 });
  }
});

/**
 * One tenant at a time sends a burst of 50, as a busy gateway sees it; every admission that needs the server waits
 * for it.
 */
async function sharedLoad(
  target: ReturnType<typeof createValkeyLimitStore> | typeof store,
  total: number,
): Promise<void> {
  for (let i = 0; i < total; i++) {
    const admitted = target.admit({
      leaseId: 'req',
      scope: scopes[Math.floor(i / 50) % 20] as LimitScope,
      reservation,
    });
    const result = admitted instanceof Promise ? await admitted : admitted;
    if (!result.admitted) continue;
    const settled = target.settle(result.lease, { kind: 'used', usage, costNanoUsd: 7_000 });
    if (settled instanceof Promise) await settled;
  }
}

/** Says of every window that nothing was used before it was made, as the ledger does: before that nothing is lent. */
async function settlePast(target: ReturnType<typeof createValkeyLimitStore>): Promise<void> {
  for (const scope of scopes.slice(0, 20)) {
    const audited = await target.audit(await target.unfounded(scope));
    await target.amend(
      audited.map(({ windows, ...level }) => ({
        ...level,
        windows: windows.map(({ quota, meter, cut }) => ({ quota, meter, cut, deltas: [], founded: true })),
      })),
    );
  }
}

let found = true;
try {
  findRedisServer();
} catch (error) {
  found = false;
  console.log(`Valkey: not measured, ${error instanceof Error ? error.message : String(error)}`);
}
if (found) {
  const server = await startRedis();
  const shared = createValkeyLimitStore({
    url: server.url,
    cellId: 'bench',
    gatewayId: 'gw-bench',
    clock: systemClock,
  });
  const exact = createValkeyLimitStore({
    url: server.url,
    cellId: 'bench-exact',
    gatewayId: 'gw-bench',
    clock: systemClock,
    leaseShare: 0,
  });
  while (shared.status.state !== 'connected' || exact.status.state !== 'connected')
    await new Promise((resolve) => setTimeout(resolve, 20));
  await settlePast(shared);
  await cpuPerOperation('memory: admit + settle, own CPU', 100_000, () => sharedLoad(store, 100_000));
  await cpuPerOperation('Valkey behind the local tier: admit + settle, own CPU', 100_000, () =>
    sharedLoad(shared, 100_000),
  );
  const { local, remote, exchanges } = shared.stats;
  console.log(
    `  decided here ${((100 * local) / (local + remote)).toFixed(1)} %, ${(exchanges / (local + remote)).toFixed(4)} exchanges per admission`,
  );
  await cpuPerOperation('Valkey, every step a round trip: admit + settle, own CPU', 5_000, () =>
    sharedLoad(exact, 5_000),
  );
  await Promise.all([shared.close(), exact.close()]);
  await server.stop();
}
