import type { Limits, LimitScope, QuotaWindow } from '@sluice/contracts';
import { createFakeClock } from '@sluice/testing';
import { createServer } from 'node:net';
import type { TierLimitStore } from './tier-limit-store.ts';
import { createValkeyLimitStore } from './valkey-limit-store.ts';

const clock = createFakeClock(Date.parse('2026-11-15T12:00:00Z'));
const window: QuotaWindow = {
  id: 'monthly',
  meter: 'total_tokens',
  limit: 100,
  mode: 'hard',
  alertAtPercent: [],
  span: { kind: 'calendar', period: 'month' },
};
const scopeOf = (limits: Limits): LimitScope => ({
  tenantId: 'acme',
  timeZone: 'UTC',
  levels: [{ level: 'tenant', id: 'acme', limits }],
});

let store: TierLimitStore;
beforeEach(async () => {
  // A port on which nothing listens.
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  store = createValkeyLimitStore({ url: `redis://127.0.0.1:${port}`, cellId: 'lost', gatewayId: 'gw-1', clock });
});
afterEach(() => store.close());

let ids = 0;
/** How many of these calls of 10 tokens are served. */
async function served(limits: Limits, calls: number): Promise<number> {
  const scope = scopeOf(limits);
  let admitted = 0;
  for (let n = 0; n < calls; n += 1) {
    const result = await store.admit({
      leaseId: `req_${++ids}`,
      scope,
      reservation: { inputTokens: 10, outputTokens: 0, costNanoUsd: 0 },
    });
    if (result.admitted) admitted += 1;
  }
  return admitted;
}

describe('limits that change while the shared store is lost', () => {
  it('serve callers by a window that is made then, up to its limit', async () => {
    expect(await served({ quotas: [window] }, 3)).toBe(3);
    expect(await served({ quotas: [{ ...window, id: 'other' }] }, 20)).toBe(10);
    expect(await served({ quotas: [{ ...window, meter: 'input_tokens' }] }, 20)).toBe(10);
  });

  it('serve callers by a raised window up to the new limit, and by none that is taken out and put back', async () => {
    expect(await served({ quotas: [window] }, 20)).toBe(10);
    expect(await served({ quotas: [{ ...window, limit: 150 }] }, 20)).toBe(5);
    expect(await served({ quotas: [] }, 1)).toBe(1);
    expect(await served({ quotas: [{ ...window, limit: 150 }] }, 20)).toBe(0);
    expect(await served({ quotas: [{ ...window, limit: 120 }] }, 20)).toBe(0);
  });

  it('serve callers by rates and bulkheads that are new or wider then', async () => {
    expect(await served({ quotas: [] }, 1)).toBe(1);
    const requests = { perMinute: 60, burst: 4 };
    expect(await served({ quotas: [], requests }, 20)).toBe(4);
    expect(await served({ quotas: [], tokens: { perMinute: 60, burst: 40 } }, 20)).toBe(4);
    expect(await served({ quotas: [], concurrency: { inFlight: 12, queued: 0 } }, 20)).toBe(3);
    expect(await served({ quotas: [], concurrency: { inFlight: 14, queued: 0 } }, 20)).toBe(2);
  });
});
