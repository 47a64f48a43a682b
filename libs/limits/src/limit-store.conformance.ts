import { afterEach, describe, expect, it } from '@jest/globals';
import type {
  AdmissionLease,
  AdmitResult,
  LimitRefusal,
  LimitScope,
  Limits,
  LimitStore,
  Reservation,
  Settlement,
  TokenUsage,
} from '@sluice/contracts';
import { createFakeClock, type FakeClock } from '@sluice/testing';
import fc from 'fast-check';

const START = Date.UTC(2026, 0, 15, 11, 59);
const MINUTE = 60_000;

type LevelLimits = Partial<Limits>;

function scopeOf(
  tenant: LevelLimits,
  workspace: LevelLimits = {},
  key: LevelLimits = {},
  timeZone = 'Europe/Berlin',
): LimitScope {
  const of = (limits: LevelLimits): Limits => ({ quotas: [], ...limits });
  return {
    tenantId: 't',
    timeZone,
    levels: [
      { level: 'tenant', id: 't', limits: of(tenant) },
      { level: 'workspace', id: 'w', limits: of(workspace) },
      { level: 'key', id: 'k', limits: of(key) },
    ],
  };
}

function quota(limit: number, more: Partial<Limits['quotas'][number]> = {}): Limits['quotas'] {
  return [
    {
      id: 'q',
      meter: 'total_tokens',
      span: { kind: 'rolling', seconds: 3600, steps: 12 },
      limit,
      mode: 'hard',
      alertAtPercent: [],
      ...more,
    },
  ];
}

const tokens = (input: number, output = 0, costNanoUsd = 0): Reservation => ({
  inputTokens: input,
  outputTokens: output,
  costNanoUsd,
});

function used(input: number, output = 0, costNanoUsd = 0): Settlement & { usage: TokenUsage; costNanoUsd: number } {
  return { kind: 'used', usage: { input, cache_read: 0, cache_write: 0, output, reasoning: 0, audio: 0 }, costNanoUsd };
}

let ids = 0;
const leaseId = (): string => `req_${++ids}`;

function leaseIn(result: AdmitResult): AdmissionLease {
  if (!result.admitted) throw new Error(`refused: ${JSON.stringify(result.refusal)}`);
  return result.lease;
}

function refusalIn(result: AdmitResult): LimitRefusal {
  if (result.admitted) throw new Error('admitted, a refusal was expected');
  return result.refusal;
}

/**
 * What every limit store guarantees. Runs under Jest; each implementation calls it with its factory.
 *
 * @param create gives an empty store whose time is the given clock's.
 */
export function limitStoreConformance(name: string, create: (clock: FakeClock) => LimitStore): void {
  const opened: LimitStore[] = [];
  const createStore = (clock: FakeClock): LimitStore => {
    const store = create(clock);
    opened.push(store);
    return store;
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });

  const setUp = (): {
    clock: FakeClock;
    store: LimitStore;
    admit: (scope: LimitScope, reservation?: Reservation) => Promise<AdmitResult>;
  } => {
    const clock = createFakeClock(START);
    const store = createStore(clock);
    return {
      clock,
      store,
      admit: async (scope, reservation = tokens(1)) => store.admit({ leaseId: leaseId(), scope, reservation }),
    };
  };

  describe(`${name}: rates`, () => {
    it('admits a burst, then refuses with the exact wait', async () => {
      const { clock, admit } = setUp();
      const scope = scopeOf({}, { requests: { perSecond: 4, burst: 2 } });
      await admit(scope);
      await admit(scope);
      expect(refusalIn(await admit(scope))).toMatchObject({
        kind: 'throttled',
        level: 'workspace',
        limit: 'requests',
        unit: 'requests',
        limitValue: 2,
        used: 2,
        retryAfterMs: 250,
      });
      clock.advance(249);
      expect((await admit(scope)).admitted).toBe(false);
      clock.advance(1);
      expect((await admit(scope)).admitted).toBe(true);
    });

    it('names the level and limit with the longest wait, so that who waits passes all of them', async () => {
      const { clock, admit } = setUp();
      const scope = scopeOf(
        { requests: { perSecond: 10, burst: 1 } },
        { tokens: { perMinute: 600 } },
        { requests: { perSecond: 5, burst: 1 } },
      );
      await admit(scope, tokens(600));
      const refusal = refusalIn(await admit(scope, tokens(100)));
      expect(refusal).toMatchObject({ level: 'workspace', limit: 'tokens', limitValue: 600, retryAfterMs: 10_000 });
      clock.advance(10_000);
      expect((await admit(scope, tokens(100))).admitted).toBe(true);
    });

    it('says that waiting never helps when a request is larger than the bucket', async () => {
      const { admit } = setUp();
      expect(refusalIn(await admit(scopeOf({ tokens: { perMinute: 100 } }), tokens(101))).retryAfterMs).toBe(Infinity);
    });

    it('lets the token bucket go into debt at settlement and makes later calls wait for it', async () => {
      const { clock, store, admit } = setUp();
      const scope = scopeOf({}, { tokens: { perMinute: 60_000, burst: 1000 } });
      await store.settle(leaseIn(await admit(scope, tokens(100))), used(3000, 0));
      expect(refusalIn(await admit(scope, tokens(500))).retryAfterMs).toBe(2500);
      clock.advance(2500);
      expect((await admit(scope, tokens(500))).admitted).toBe(true);
    });

    it('gives tokens back that were reserved and not used', async () => {
      const { store, admit } = setUp();
      const scope = scopeOf({}, { tokens: { perMinute: 1000 } });
      await store.settle(leaseIn(await admit(scope, tokens(400, 600))), used(100, 100));
      expect((await store.view(scope)).tokens).toMatchObject({ limit: 1000, remaining: 800 });
    });

    it('counts a call that was sent for at least what its bytes count, and one that was not for nothing', async () => {
      const { store, admit } = setUp();
      const scope = scopeOf({}, { tokens: { perMinute: 1000 } });
      const padded = { ...tokens(600), leastTokens: 600 };
      await store.settle(leaseIn(await admit(scope, padded)), used(10));
      expect((await store.view(scope)).tokens?.remaining).toBe(400);
      expect(refusalIn(await admit(scope, padded))).toMatchObject({ kind: 'throttled', limit: 'tokens' });
      await store.settle(leaseIn(await admit(scope, { ...tokens(400), leastTokens: 400 })), { kind: 'unused' });
      expect((await store.view(scope)).tokens?.remaining).toBe(400);
    });

    it('takes one request and nothing else for a cache hit, at all levels or none', async () => {
      const { store, admit } = setUp();
      const scope = scopeOf(
        { requests: { perSecond: 1, burst: 5 } },
        { requests: { perSecond: 1, burst: 1 }, tokens: { perMinute: 100 }, quotas: quota(100) },
      );
      expect(await store.takeRequest(scope)).toBeUndefined();
      expect(await store.takeRequest(scope)).toMatchObject({
        kind: 'throttled',
        level: 'workspace',
        retryAfterMs: 1000,
      });
      expect((await store.view(scope)).tokens?.remaining).toBe(100);
      expect((await admit({ ...scope, levels: scope.levels.slice(0, 1) })).view.requests?.remaining).toBe(3);
    });
  });

  describe(`${name}: bulkhead`, () => {
    it('sheds above the calls in flight although the rate would allow more, and admits again after a settlement', async () => {
      const { store, admit } = setUp();
      const scope = scopeOf({}, { requests: { perSecond: 1, burst: 2 }, concurrency: { inFlight: 2, queued: 1 } });
      const first = leaseIn(await admit(scope));
      await admit(scope);
      const refusal = refusalIn(await admit(scope));
      expect(refusal).toMatchObject({ kind: 'shed', level: 'workspace', limit: 'in_flight', limitValue: 2, used: 2 });
      expect(refusal.retryAfterMs).toBeGreaterThanOrEqual(1000);
      expect(refusal.retryAfterMs).toBeLessThanOrEqual(30_000);
      await store.settle(first, { kind: 'unused' });
      expect((await admit(scope)).admitted).toBe(true);
    });

    it('bounds the waiting calls at every level, all or nothing', async () => {
      const { store, admit } = setUp();
      const scope = scopeOf({ concurrency: { inFlight: 9, queued: 2 } }, { concurrency: { inFlight: 9, queued: 1 } });
      const [a, b] = [leaseIn(await admit(scope)), leaseIn(await admit(scope))];
      expect(await store.enterQueue(a)).toBeUndefined();
      expect(await store.enterQueue(b)).toMatchObject({
        kind: 'shed',
        level: 'workspace',
        limit: 'queued',
        limitValue: 1,
        used: 1,
      });
      expect((await store.view(scope)).queued).toBe(1);
      await store.leaveQueue(a);
      await store.leaveQueue(a);
      expect(await store.enterQueue(b)).toBeUndefined();
      await store.settle(b, { kind: 'unused' });
      expect(await store.view(scope)).toMatchObject({ queued: 0, inFlight: 1 });
    });
  });

  describe(`${name}: quotas`, () => {
    it('lets 200 calls at once have exactly the last 10,000 tokens', async () => {
      const { store, admit } = setUp();
      const scope = scopeOf({}, { quotas: quota(100_000) });
      await store.settle(leaseIn(await admit(scope)), used(90_000));
      const results = await Promise.all(Array.from({ length: 200 }, () => admit(scope, tokens(300, 100))));
      expect(results.filter((result) => result.admitted)).toHaveLength(25);
    });

    it('does not let a caller have the limit twice around the full hour', async () => {
      const { clock, store, admit } = setUp();
      const scope = scopeOf({}, { quotas: quota(1000) });
      await store.settle(leaseIn(await admit(scope, tokens(1000))), used(1000));
      clock.advance(2 * MINUTE);
      const { retryAfterMs, kind, limit } = refusalIn(await admit(scope, tokens(1000)));
      expect({ kind, limit }).toEqual({ kind: 'quota', limit: 'q' });
      expect(retryAfterMs).toBeGreaterThanOrEqual(58 * MINUTE);
      clock.advance(retryAfterMs - 1);
      expect((await admit(scope, tokens(1000))).admitted).toBe(false);
      clock.advance(1);
      expect((await admit(scope, tokens(1000))).admitted).toBe(true);
    });

    it('counts a calendar month in the zone of the tenant, across a change of clocks', async () => {
      const clock = createFakeClock(Date.UTC(2026, 2, 31, 21, 30)); // 23:30 in Berlin
      const store = createStore(clock);
      const scope = scopeOf({ quotas: quota(10, { span: { kind: 'calendar', period: 'month' } }) });
      const admit = async (): Promise<AdmitResult> =>
        store.admit({ leaseId: leaseId(), scope, reservation: tokens(10) });
      await store.settle(leaseIn(await admit()), used(10));
      expect(refusalIn(await admit()).retryAfterMs).toBe(30 * MINUTE);
      clock.advance(30 * MINUTE);
      expect((await admit()).admitted).toBe(true);
    });

    it('meters input, output, all tokens and money apart', async () => {
      const { store, admit } = setUp();
      const meters = ['input_tokens', 'output_tokens', 'total_tokens', 'cost_nanousd'] as const;
      const scope = scopeOf({}, { quotas: meters.flatMap((meter) => quota(1_000_000, { id: meter, meter })) });
      const settlement = used(10, 20, 700);
      settlement.usage = { input: 10, cache_read: 1, cache_write: 2, output: 20, reasoning: 3, audio: 4 };
      await store.settle(leaseIn(await admit(scope, tokens(100, 100, 9000))), settlement);
      expect((await store.view(scope)).quotas.map((window) => window.used)).toEqual([13, 27, 40, 700]);
    });

    it('refuses early where the plan says so, and only warns in a soft window', async () => {
      const { store, admit } = setUp();
      const early = scopeOf({}, { quotas: quota(1000, { refuseAtPercent: 90 }) });
      expect((await admit(early, tokens(901))).admitted).toBe(false);
      expect((await admit(early, tokens(900))).admitted).toBe(true);
      const soft = scopeOf({}, { quotas: quota(5, { mode: 'soft', id: 'soft' }) });
      expect((await admit(soft, tokens(50))).admitted).toBe(true);
      expect((await store.view(soft)).quotas).toMatchObject([{ id: 'w', used: 50, limit: 5, mode: 'soft' }]);
    });

    it('shows the use of hard and soft windows beside the thresholds at which an alert is due', async () => {
      const { store, admit } = setUp();
      const alerts = { alertAtPercent: [80, 100] };
      const scope = scopeOf(
        {},
        {
          quotas: [...quota(1000, { id: 'hard', ...alerts }), ...quota(2000, { id: 'soft', mode: 'soft', ...alerts })],
        },
      );
      await store.settle(leaseIn(await admit(scope, tokens(790))), used(795));
      const shown = [
        { window: 'hard', used: 800, limit: 1000, ...alerts },
        { window: 'soft', used: 800, limit: 2000, ...alerts },
      ];
      expect((await admit(scope, tokens(5))).view.quotas).toMatchObject(shown);
      expect((await store.view(scope)).quotas).toMatchObject(shown);
    });

    it('keeps what is reserved apart from what is used: a reservation that returns frees its room', async () => {
      const { store, admit } = setUp();
      const scope = scopeOf({}, { quotas: quota(100) });
      const lease = leaseIn(await admit(scope, tokens(90)));
      expect(await store.topUp(lease, tokens(11))).toMatchObject({ kind: 'quota', used: 90 });
      expect(await store.topUp(lease, tokens(10))).toBeUndefined();
      expect((await admit(scope, tokens(1))).admitted).toBe(false);
      await store.settle(lease, used(30));
      expect((await admit(scope, tokens(70))).admitted).toBe(true);
    });

    it('is evaluated before the bulkhead, and the bulkhead before the rate', async () => {
      const { store, admit } = setUp();
      const all: LevelLimits = { requests: { perSecond: 0.001, burst: 1 }, concurrency: { inFlight: 1, queued: 0 } };
      const scope = scopeOf({ ...all, quotas: quota(10) });
      const lease = leaseIn(await admit(scope, tokens(5)));
      expect(refusalIn(await admit(scope, tokens(6))).kind).toBe('quota');
      expect(refusalIn(await admit(scope, tokens(5))).kind).toBe('shed');
      await store.settle(lease, used(5));
      expect(refusalIn(await admit(scope, tokens(5))).kind).toBe('throttled');
    });
  });

  describe(`${name}: leases`, () => {
    it('tells ahead who will be refused, by every limit, in the words of admission, and takes nothing', async () => {
      for (const limits of [
        { quotas: quota(100) },
        { concurrency: { inFlight: 1, queued: 0, queueTimeoutMs: 1 } },
        { requests: { perMinute: 1, burst: 1 } },
        { tokens: { perMinute: 100 } },
      ] satisfies LevelLimits[]) {
        const { clock, store, admit } = setUp();
        const scope = scopeOf({}, limits);
        for (let i = 0; i < 5; i++) expect(await store.look(scope, 1)).toBeUndefined();
        await admit(scope, tokens(100));
        clock.advance(1);
        expect(await store.look(scope, 1)).toEqual(refusalIn(await admit(scope, tokens(1))));
      }
    });

    it('tells ahead of nobody who would be admitted', async () => {
      const { clock, store, admit } = setUp();
      const scope = scopeOf(
        { quotas: quota(1_000) },
        { tokens: { perMinute: 600 } },
        { requests: { perSecond: 1, burst: 3 } },
      );
      for (let i = 0; i < 60; i++) {
        const ahead = await store.look(scope, 20);
        const result = await admit(scope, tokens(20));
        if (ahead !== undefined) expect(result.admitted).toBe(false);
        if (result.admitted && i % 2 === 0) await store.settle(result.lease, used(15));
        clock.advance(i % 3 === 0 ? 900 : 50);
      }
    });

    it('takes nothing when one level refuses', async () => {
      const { store, admit } = setUp();
      const room: LevelLimits = {
        requests: { perSecond: 1, burst: 9 },
        tokens: { perMinute: 900 },
        concurrency: { inFlight: 9, queued: 9 },
        quotas: quota(900),
      };
      const scope = scopeOf(room, room, { tokens: { perMinute: 1 } });
      const before = await store.view(scope);
      expect((await admit(scope, tokens(5))).admitted).toBe(false);
      expect(await store.view(scope)).toEqual(before);
    });

    it('is settled once: a second settlement changes nothing and says so', async () => {
      const { store, admit } = setUp();
      const scope = scopeOf(
        {},
        { tokens: { perMinute: 1000 }, concurrency: { inFlight: 5, queued: 5 }, quotas: quota(1000) },
      );
      const lease = leaseIn(await admit(scope, tokens(100)));
      expect(await store.settle(lease, used(100))).toBe(true);
      const after = await store.view(scope);
      expect(await store.settle(lease, { kind: 'unused' })).toBe(false);
      expect(await store.view(scope)).toEqual(after);
    });

    it('goes on with the same counters under new limits, which hold at once', async () => {
      const { store, admit } = setUp();
      const old = scopeOf(
        {},
        { requests: { perSecond: 1, burst: 2 }, concurrency: { inFlight: 2, queued: 0 }, quotas: quota(100) },
      );
      const running = leaseIn(await admit(old, tokens(60)));
      await admit(old, tokens(40));
      const raised = scopeOf(
        {},
        { requests: { perSecond: 1000, burst: 2 }, concurrency: { inFlight: 3, queued: 0 }, quotas: quota(200) },
      );
      expect(refusalIn(await admit(raised, tokens(100))).retryAfterMs).toBe(1);
      await store.settle(running, used(50));
      expect((await store.view(raised)).quotas).toMatchObject([{ used: 90, limit: 200 }]);
      expect(await store.view(raised)).toMatchObject({ inFlight: 1 });
      expect((await admit(scopeOf({}, { quotas: quota(91) }), tokens(2))).admitted).toBe(false);
    });

    it('keeps what was used when the span of a window changes', async () => {
      const { store, admit } = setUp();
      await store.settle(leaseIn(await admit(scopeOf({}, { quotas: quota(100) }))), used(80));
      const monthly = scopeOf({}, { quotas: quota(100, { span: { kind: 'calendar', period: 'month' } }) });
      expect((await store.view(monthly)).quotas).toMatchObject([{ used: 80 }]);
      expect((await admit(monthly, tokens(21))).admitted).toBe(false);
    });

    it('loses and leaks nothing over any order of admissions, top-ups, queueing and settlements', async () => {
      const step = fc.record({
        action: fc.constantFrom('admit', 'admit', 'topUp', 'enterQueue', 'leaveQueue', 'unused', 'used'),
        amount: fc.integer({ min: 0, max: 60 }),
        pick: fc.nat({ max: 20 }),
        waitMs: fc.constantFrom(0, 0, 1, 700, 200_000),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
          const { clock, store, admit } = setUp();
          const scope = scopeOf(
            { tokens: { perMinute: 600 }, quotas: quota(400) },
            { requests: { perSecond: 2, burst: 5 }, concurrency: { inFlight: 4, queued: 2 } },
            { quotas: quota(1_000_000, { span: { kind: 'calendar', period: 'month' }, meter: 'input_tokens' }) },
          );
          const open: AdmissionLease[] = [];
          let input = 0;
          for (const { action, amount, pick, waitMs } of steps) {
            clock.advance(waitMs);
            const lease = open[pick % Math.max(1, open.length)];
            if (action === 'admit') {
              const result = await admit(scope, tokens(amount, 10));
              if (result.admitted) open.push(result.lease);
              const hour = result.view.quotas.find(({ level }) => level === 'tenant');
              if (result.admitted && hour) expect(hour.used).toBeLessThanOrEqual(400);
              expect(result.view.inFlight).toBe(open.length);
            } else if (lease === undefined) continue;
            else if (action === 'topUp') await store.topUp(lease, tokens(amount));
            else if (action === 'enterQueue') await store.enterQueue(lease);
            else if (action === 'leaveQueue') await store.leaveQueue(lease);
            else {
              open.splice(open.indexOf(lease), 1);
              if (action === 'used') input += amount;
              await store.settle(lease, action === 'used' ? used(amount, 1) : { kind: 'unused' });
            }
          }
          for (const lease of open) expect(await store.settle(lease, { kind: 'unused' })).toBe(true);
          const view = await store.view(scope);
          expect(view).toMatchObject({ inFlight: 0, queued: 0 });
          expect(view.quotas.find(({ level }) => level === 'key')?.used).toBe(input);
          clock.advance(24 * 60 * MINUTE);
          const rested = await store.view(scope);
          expect([rested.requests?.remaining, rested.tokens?.remaining]).toEqual([5, 600]);
          expect(rested.quotas.find(({ level }) => level === 'tenant')?.used).toBe(0);
          await store.close();
        }),
        { numRuns: 60 },
      );
    }, 60_000);
  });

  describe(`${name}: restart`, () => {
    it('has an exhausted quota in force before the first admission, with full buckets', async () => {
      const { clock, store, admit } = setUp();
      const scope = scopeOf({}, { tokens: { perMinute: 1000 }, quotas: quota(1000) });
      await store.settle(leaseIn(await admit(scope, tokens(900))), used(990));
      await admit(scope, tokens(5)); // runs on, is lost with the process
      const saved = JSON.parse(JSON.stringify(await store.checkpoint()));
      clock.advance(MINUTE);
      const next = createStore(clock);
      await next.restore(saved);
      await next.replay({ scope, atMs: clock.now() - 1000, ...used(10) });
      const result = await next.admit({ leaseId: leaseId(), scope, reservation: tokens(1) });
      expect(refusalIn(result)).toMatchObject({ kind: 'quota', limit: 'q', used: 1000 });
      expect(result.view.tokens?.remaining).toBe(1000);
    });

    it('keeps counters over two restarts although nobody called in between, and leaves out what is forgotten', async () => {
      const { clock, store, admit } = setUp();
      const scope = scopeOf({}, { quotas: quota(1000) });
      await store.settle(leaseIn(await admit(scope)), used(700));
      const second = createStore(clock);
      await second.restore(await store.checkpoint());
      const third = createStore(clock);
      await third.restore(await second.checkpoint());
      expect((await third.view(scope)).quotas).toMatchObject([{ used: 700 }]);
      clock.advance(66 * MINUTE);
      await third.replay({ scope, atMs: START, ...used(50) });
      expect((await third.view(scope)).quotas).toMatchObject([{ used: 0 }]);
    });
  });
}
