import type { AdmitResult, LimitScope, LimitStore } from '@sluice/contracts';
import { createFakeClock, type FakeClock } from '@sluice/testing';
import { createMemoryLimitStore } from './memory-limit-store.ts';
import { limitStoreConformance } from './testing.ts';

limitStoreConformance('memory limit store', (clock) => createMemoryLimitStore({ clock }));

describe('createMemoryLimitStore', () => {
  it('refuses a lease that another store gave', () => {
    const store = createMemoryLimitStore({ clock: createFakeClock() });
    const scope = { tenantId: 't', timeZone: 'UTC', levels: [] };
    const lease = {
      id: 'req_x',
      scope,
      reservation: { inputTokens: 0, outputTokens: 0, costNanoUsd: 0 },
      admittedAtMs: 0,
    };
    expect(() => store.settle(lease, { kind: 'unused' })).toThrow(TypeError);
  });

  describe('a level that nobody names any more, as of a deleted key', () => {
    const DAY_MS = 86_400_000;
    const scopeOf = (id: string): LimitScope => ({
      tenantId: 't',
      timeZone: 'UTC',
      levels: [
        {
          level: 'key',
          id,
          limits: {
            concurrency: { inFlight: 1, queued: 0 },
            quotas: [
              {
                id: 'day',
                meter: 'total_tokens',
                span: { kind: 'rolling', seconds: 172_800, steps: 12 },
                limit: 100,
                mode: 'hard',
                alertAtPercent: [],
              },
            ],
          },
        },
      ],
    });
    const admit = async (store: LimitStore, scope: LimitScope): Promise<AdmitResult> =>
      store.admit({ leaseId: 'l', scope, reservation: { inputTokens: 0, outputTokens: 0, costNanoUsd: 0 } });
    /** Two looks, a day between them. */
    const aDay = (clock: FakeClock, store: LimitStore): void => {
      void store.checkpoint();
      void store.checkpoint();
      clock.advance(DAY_MS);
      void store.checkpoint();
      void store.checkpoint();
    };

    it('is forgotten after a day, and begins as one that was never there when it comes back', async () => {
      const clock = createFakeClock();
      const store = createMemoryLimitStore({ clock });
      const scope = scopeOf('gone');
      const first = await admit(store, scope);
      if (first.admitted) void store.settle(first.lease, { kind: 'unused' });
      expect(store.levelsWithWindows()).toHaveLength(1);
      aDay(clock, store);
      expect(store.levelsWithWindows()).toEqual([]);
      expect(store.unfounded(scope)).toHaveLength(1);
      const again = await admit(store, scope);
      expect([again.admitted, (await admit(store, scopeOf('gone'))).admitted]).toEqual([true, false]);
    });

    it('is kept while a call of it is in flight, while its use counts, and while it is named', async () => {
      const clock = createFakeClock();
      const store = createMemoryLimitStore({ clock });
      await admit(store, scopeOf('in flight'));
      const busy = await admit(store, scopeOf('used'));
      const usage = { input: 5, cache_read: 0, cache_write: 0, output: 0, reasoning: 0, audio: 0 };
      if (busy.admitted) void store.settle(busy.lease, { kind: 'used', usage, costNanoUsd: 0 });
      const used = await admit(store, scopeOf('named'));
      if (used.admitted) void store.settle(used.lease, { kind: 'unused' });
      void store.checkpoint();
      clock.advance(DAY_MS);
      void store.view(scopeOf('named'));
      void store.checkpoint();
      void store.checkpoint();
      expect(store.levelsWithWindows().map(({ id }) => id)).toEqual(['in flight', 'used', 'named']);
    });
  });
});
