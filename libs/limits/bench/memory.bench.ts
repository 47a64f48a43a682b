import { systemClock, type Limits, type LimitScope } from '@sluice/contracts';
import { createMemoryLimitStore } from '../src/index.ts';

const WORKSPACES = 100_000;
const megabytes = (bytes: number): string => (bytes / 1_048_576).toFixed(0);

const quotas: Limits['quotas'] = [
  {
    id: 'month',
    meter: 'total_tokens',
    span: { kind: 'calendar', period: 'month' },
    limit: 500_000_000,
    mode: 'hard',
    alertAtPercent: [80, 100],
  },
];
const tenant: Limits = {
  requests: { perSecond: 1e6, burst: 1e6 },
  concurrency: { inFlight: 1_000, queued: 1_000 },
  quotas: [{ ...(quotas[0] as Limits['quotas'][number]), id: 'money', meter: 'cost_nanousd', limit: 1e15 }],
};
const workspace: Limits = {
  requests: { perSecond: 50, burst: 100 },
  tokens: { perMinute: 3_000_000 },
  concurrency: { inFlight: 100, queued: 100 },
  quotas,
};

/** Ten workspaces to a tenant, limits at both, keys without limits of their own: the shape of the demo's plans. */
const before = process.memoryUsage.rss();
const store = createMemoryLimitStore({ clock: systemClock });
const scopes = Array.from({ length: WORKSPACES }, (_, n): LimitScope => {
  const id = `tenant-${Math.floor(n / 10)}`;
  return {
    tenantId: id,
    timeZone: 'Europe/Berlin',
    levels: [
      { level: 'tenant', id, limits: tenant },
      { level: 'workspace', id: `workspace-${n}`, limits: workspace },
    ],
  };
});
const usage = { input: 120, cache_read: 0, cache_write: 0, output: 80, reasoning: 0, audio: 0 };
for (const scope of scopes) {
  const result = store.admit({
    leaseId: 'req',
    scope,
    reservation: { inputTokens: 130, outputTokens: 256, costNanoUsd: 9_000 },
  });
  if (result.admitted) store.settle(result.lease, { kind: 'used', usage, costNanoUsd: 7_000 });
}
globalThis.gc?.();
// Both are still in use here, so that nothing of what is measured was collected.
const inUse = store.view(scopes[0] as LimitScope).quotas.length > 0 ? scopes.length : 0;
console.log(
  `${inUse.toLocaleString('en-US')} workspaces of 10,000 tenants, each used once: process ${megabytes(process.memoryUsage.rss())} MB (${megabytes(before)} MB before), heap ${megabytes(process.memoryUsage().heapUsed)} MB`,
);
