import { systemClock, type LimitScope, type Limits } from '@sluice/contracts';
import { createMemoryLimitStore, createSlotPool, TokenBucket } from '../src/index.ts';
import { bench } from './run.ts';

const OPERATIONS = 300_000;
const TENANTS = 1_000;

const limits: Limits = {
  requests: { perSecond: 1e9, burst: 1e9 },
  tokens: { perMinute: 1e12 },
  concurrency: { inFlight: 1_000, queued: 1_000 },
  quotas: [
    { id: 'hour', meter: 'total_tokens', span: { kind: 'rolling', seconds: 3_600, steps: 12 }, limit: 1e15, mode: 'hard', alertAtPercent: [] },
    { id: 'month', meter: 'cost_nanousd', span: { kind: 'calendar', period: 'month' }, limit: 1e15, mode: 'hard', alertAtPercent: [] },
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

const buckets = new Map(Array.from({ length: TENANTS }, (_, n) => [`t${n}`, new TokenBucket(1e9, 1e6, systemClock.monotonic())]));
const names = [...buckets.keys()];
bench('token bucket, with look-up and clock', OPERATIONS, () => {
  for (let i = 0; i < OPERATIONS; i++) {
    const bucket = buckets.get(names[i % TENANTS] ?? '');
    const now = systemClock.monotonic();
    if (bucket?.has(1, now)) bucket.take(1, now);
  }
});

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
    const lease = pool.acquire({ tenantId: names[i % TENANTS] ?? '', workspaceId: 'w', priority: 'standard', costTokens: 386, timeoutMs: 1_000 });
    if (!(lease instanceof Promise)) lease.release();
  }
});
