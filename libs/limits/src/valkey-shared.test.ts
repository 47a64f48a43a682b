import type { AdmissionLease, AdmitResult, Limits, LimitScope, Reservation, Settlement } from '@sluice/contracts';
import { createFakeClock, eventually, startRedis, type FakeClock, type RedisServer } from '@sluice/testing';
import fc from 'fast-check';
import type { Authority } from './authority.ts';
import { createTierLimitStore, type TierLimitStore, type TierOptions } from './tier-limit-store.ts';
import { connectAuthority, createValkeyLimitStore } from './valkey-limit-store.ts';

let server: RedisServer;
let cells = 0;
const opened: TierLimitStore[] = [];

beforeAll(async () => {
  server = await startRedis();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});
afterAll(async () => {
  await server.stop();
});

/** So far apart that no background report comes in a test's way. */
const NEVER_MS = 1e9;

interface Cell {
  readonly clock: FakeClock;
  gateway(options?: Partial<TierOptions>): TierLimitStore;
}

/** Gateways that share counters and, for the test, one clock with the server. */
function cell(): Cell {
  const clock = createFakeClock(Date.UTC(2026, 0, 15, 11, 59));
  const cellId = `shared-${++cells}`;
  let count = 0;
  return {
    clock,
    gateway(options = {}) {
      const store = createValkeyLimitStore({
        url: server.url,
        cellId,
        gatewayId: `gw-${++count}`,
        clock,
        serverTime: () => clock.now(),
        flushMs: NEVER_MS,
        reconnectJitterMs: 20,
        commandTimeoutMs: 2_000,
        ...options,
      });
      opened.push(store);
      return store;
    },
  };
}

const FLUSH_MS = 250;

/** The timers of a store whose flushes come by the test's clock, and all else by the system's. */
function flushesBy(clock: FakeClock): TierOptions['timers'] {
  return {
    setTimeout: (callback, delayMs) =>
      delayMs === FLUSH_MS ? clock.setTimeout(callback, delayMs) : setTimeout(callback, delayMs),
    clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
  };
}

function scopeOf(limits: Partial<Limits>): LimitScope {
  return {
    tenantId: 't',
    timeZone: 'UTC',
    levels: [
      { level: 'tenant', id: 't', limits: { quotas: [], ...limits } },
      { level: 'workspace', id: 'w', limits: { quotas: [] } },
    ],
  };
}

const hour = (limit: number): Limits['quotas'] => [
  {
    id: 'hour',
    meter: 'total_tokens',
    span: { kind: 'rolling', seconds: 3_600, steps: 12 },
    limit,
    mode: 'hard',
    alertAtPercent: [],
  },
];
const tokens = (input: number): Reservation => ({ inputTokens: input, outputTokens: 0, costNanoUsd: 0 });
const used = (input: number): Settlement => ({
  kind: 'used',
  usage: { input, output: 0, cache_read: 0, cache_write: 0, reasoning: 0, audio: 0 },
  costNanoUsd: 0,
});
const UNUSED: Settlement = { kind: 'unused' };
let ids = 0;

async function admit(store: TierLimitStore, scope: LimitScope, input = 1): Promise<AdmitResult> {
  return store.admit({ leaseId: `req_${++ids}`, scope, reservation: tokens(input) });
}

async function leaseOf(store: TierLimitStore, scope: LimitScope, input = 1): Promise<AdmissionLease> {
  const result = await admit(store, scope, input);
  if (!result.admitted) throw new Error(`refused: ${JSON.stringify(result.refusal)}`);
  return result.lease;
}

/** Says that nothing was used before the windows of the scope were made, as the ledger does. */
async function settlePast(store: TierLimitStore, scope: LimitScope): Promise<void> {
  const audited = await store.audit(await store.unfounded(scope));
  await store.amend(
    audited.map(({ windows, ...level }) => ({
      ...level,
      windows: windows.map(({ quota, meter, cut }) => ({ quota, meter, cut, deltas: [], founded: true })),
    })),
  );
  expect(await store.unfounded(scope)).toEqual([]);
}

/** Admits until refused and says how many were. */
async function fill(store: TierLimitStore, scope: LimitScope, most: number, input = 1): Promise<number> {
  let count = 0;
  while (count < most && (await admit(store, scope, input)).admitted) count++;
  return count;
}

const connected = (store: TierLimitStore): Promise<void> =>
  eventually(() => expect(store.status.state).toBe('connected'));

describe('two gateways with one limit', () => {
  it('show what the other used also where calls of the same tenant wait in the meantime', async () => {
    const { gateway } = cell();
    const [a, b] = [gateway({ leaseShare: 0 }), gateway({ leaseShare: 0 })];
    await Promise.all([connected(a), connected(b)]);
    const scope: LimitScope = {
      ...scopeOf({}),
      levels: [{ level: 'workspace', id: 'shown', limits: { quotas: hour(1_000) } }],
    };
    const lease = await leaseOf(a, scope, 10);
    await a.settle(lease, used(300));
    const busy = scopeOf({ quotas: hour(1_000) });
    const calls = [admit(b, busy)];
    const view = b.view(scope);
    calls.push(admit(b, busy));
    expect((await view).quotas[0]?.used).toBe(300);
    await Promise.all(calls);
  });

  it('together admit what the limit allows, however the traffic is split, and one alone has all of it', async () => {
    const { clock, gateway } = cell();
    const [a, b] = [gateway(), gateway()];
    const scope = scopeOf({ requests: { perSecond: 50, burst: 50 } });
    await fill(a, scope, 1_000);
    let admitted = 0;
    for (let ms = 0; ms < 30_000; ms += 10) {
      clock.advance(10);
      const result = await admit(ms % 100 === 0 ? b : a, scope);
      if (result.admitted) admitted++;
    }
    expect(admitted).toBeGreaterThanOrEqual(1_470);
    expect(admitted).toBeLessThanOrEqual(1_530);
    let alone = 0;
    for (let ms = 0; ms < 10_000; ms += 10) {
      clock.advance(10);
      if ((await admit(b, scope)).admitted) alone++;
    }
    expect(alone).toBeGreaterThanOrEqual(490);
    expect(alone).toBeLessThanOrEqual(510);
  });

  it('give 200 calls at once exactly the last 10,000 tokens', async () => {
    const { gateway } = cell();
    const [a, b] = [gateway(), gateway()];
    const scope = scopeOf({ quotas: hour(100_000) });
    await a.settle(await leaseOf(a, scope), used(90_000));
    await a.view(scope);
    const results = await Promise.all(Array.from({ length: 200 }, (_, i) => admit(i % 2 ? a : b, scope, 400)));
    expect(results.filter((result) => result.admitted)).toHaveLength(25);
  });

  it('admit at most what was lent beyond the bucket: size + gateways × a tenth of it', async () => {
    const { clock, gateway } = cell();
    const [a, b] = [gateway(), gateway()];
    const scope = scopeOf({ requests: { perSecond: 50, burst: 100 } });
    for (const store of [a, b]) {
      for (let i = 0; i < 12; i++) {
        await admit(store, scope);
        await store.quiet();
      }
    }
    clock.advance(5_000);
    const [fromA, fromB] = [await fill(a, scope, 500), await fill(b, scope, 500)];
    expect(fromA + fromB).toBeLessThanOrEqual(120);
    expect(fromA + fromB).toBeGreaterThan(110);
  });

  it('never admit more calls in flight or reserve more quota than the limit, lent or not', async () => {
    const { gateway } = cell();
    const [a, b] = [gateway(), gateway()];
    const scope = scopeOf({ concurrency: { inFlight: 100, queued: 0 }, quotas: hour(1_000_000) });
    const counts = await Promise.all([fill(a, scope, 500), fill(b, scope, 500)]);
    expect(counts[0] + counts[1]).toBeLessThanOrEqual(100);
    expect(counts[0] + counts[1]).toBeGreaterThanOrEqual(90);
  });

  it('lose and leak nothing over any order of admissions and settlements at both', async () => {
    const step = fc.record({
      at: fc.nat({ max: 1 }),
      action: fc.constantFrom('admit', 'admit', 'topUp', 'unused', 'used', 'used'),
      amount: fc.integer({ min: 0, max: 600 }),
      waitMs: fc.constantFrom(0, 5, 300, 20_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const { clock, gateway } = cell();
        const stores = [gateway(), gateway()];
        const scope = scopeOf({
          requests: { perSecond: 100, burst: 200 },
          tokens: { perMinute: 100_000 },
          concurrency: { inFlight: 100, queued: 0 },
          quotas: hour(1_000_000),
        });
        const open: [TierLimitStore, AdmissionLease][] = [];
        let sum = 0;
        for (const { at, action, amount, waitMs } of steps) {
          clock.advance(waitMs);
          const store = stores[at] as TierLimitStore;
          if (action === 'admit') {
            const result = await admit(store, scope, amount);
            if (result.admitted) open.push([store, result.lease]);
            continue;
          }
          const [holder, lease] = open[amount % Math.max(1, open.length)] ?? [];
          if (holder === undefined || lease === undefined) continue;
          if (action === 'topUp') await holder.topUp(lease, tokens(amount));
          else {
            open.splice(
              open.findIndex(([, one]) => one === lease),
              1,
            );
            await holder.settle(lease, action === 'used' ? used(amount) : UNUSED);
            if (action === 'used') sum += amount;
          }
        }
        for (const [holder, lease] of open) await holder.settle(lease, UNUSED);
        for (const store of stores) await store.close();
        const witness = gateway();
        expect(await witness.view(scope)).toMatchObject({ inFlight: 0, quotas: [{ used: sum }] });
        await witness.close();
      }),
      { numRuns: 25 },
    );
  });
});

describe('the local tier', () => {
  it('decides at least nine of ten admissions of a steady load without a round trip', async () => {
    const { clock, gateway } = cell();
    const store = gateway({ flushMs: FLUSH_MS, timers: flushesBy(clock) });
    const scope = scopeOf({
      requests: { perSecond: 50, burst: 100 },
      tokens: { perMinute: 3_000_000 },
      concurrency: { inFlight: 100, queued: 100 },
      quotas: hour(500_000_000),
    });
    await settlePast(store, scope);
    const before = store.stats.exchanges;
    const running: AdmissionLease[] = [];
    for (let i = 0; i < 1_200; i++) {
      clock.advance(25);
      running.push(await leaseOf(store, scope, 386));
      if (running.length > 20) await store.settle(running.shift() as AdmissionLease, used(200));
      await store.quiet();
    }
    const { local, remote, exchanges } = store.stats;
    expect(local + remote).toBe(1_200);
    expect(local / 1_200).toBeGreaterThanOrEqual(0.9);
    expect(exchanges - before).toBeLessThan(600);
  });

  it('borrows nothing by looking, so that each gateway shows what was used and nothing else', async () => {
    const { clock, gateway } = cell();
    const [a, b] = [gateway({ flushMs: 250 }), gateway()];
    const scope = scopeOf({ quotas: hour(1e9) });
    for (let i = 0; i < 20; i++) await a.settle(await leaseOf(a, scope, 40), used(25));
    const shown = async (): Promise<(number | undefined)[]> => [
      (await a.view(scope)).quotas[0]?.used,
      (await b.view(scope)).quotas[0]?.used,
    ];
    clock.advance(1_500);
    await eventually(async () => expect(await shown()).toEqual([500, 500]));
    for (let i = 0; i < 5; i++) expect(await shown()).toEqual([500, 500]);
  });

  it('gives back what it does not use, so that another gateway has it', async () => {
    const { clock, gateway } = cell();
    const scope = scopeOf({ concurrency: { inFlight: 100, queued: 0 } });
    const [a, b] = [gateway({ flushMs: 20 }), gateway()];
    await a.settle(await leaseOf(a, scope), UNUSED);
    clock.advance(2_000);
    let admitted = 0;
    await eventually(async () => {
      admitted += await fill(b, scope, 200);
      expect(admitted).toBe(100);
    });
  });
});

describe('liveness', () => {
  const scope = scopeOf({ concurrency: { inFlight: 40, queued: 0 }, quotas: hour(500) });

  it('frees the 40 slots and the reservations of a killed gateway once, within the liveness time', async () => {
    const { clock, gateway } = cell();
    const [dead, alive] = [gateway(), gateway()];
    expect(await fill(dead, scope, 100)).toBe(40);
    clock.advance(9_999);
    await alive.heartbeat();
    expect(await fill(alive, scope, 100)).toBe(0);
    clock.advance(2);
    expect(await fill(alive, scope, 100)).toBe(40);
    expect(await alive.view(scope)).toMatchObject({ inFlight: 40, quotas: [{ used: 40 }] });
  });

  it('lets a gateway that was paused register its live calls again, and frees nothing twice', async () => {
    const { clock, gateway } = cell();
    const [paused, other] = [gateway(), gateway()];
    const held = await Promise.all(Array.from({ length: 30 }, () => leaseOf(paused, scope)));
    clock.advance(30_000);
    const taken = await Promise.all(Array.from({ length: 20 }, () => leaseOf(other, scope)));
    await paused.heartbeat();
    expect(await other.view(scope)).toMatchObject({ inFlight: 50, quotas: [{ used: 50 }] });
    expect((await admit(paused, scope)).admitted).toBe(false);
    for (const lease of held) expect(await paused.settle(lease, used(1))).toBe(true);
    for (const lease of held) expect(await paused.settle(lease, used(1))).toBe(false);
    await paused.view(scope);
    expect(await other.view(scope)).toMatchObject({ inFlight: 20, quotas: [{ used: 50 }] });
    for (const lease of taken) await other.settle(lease, UNUSED);
    expect(await other.view(scope)).toMatchObject({ inFlight: 0, quotas: [{ used: 30 }] });
  });

  it('keeps the slots of ten-minute streams without an exchange of their own', async () => {
    const { clock, gateway } = cell();
    const [a, b] = [gateway(), gateway()];
    const streams = await Promise.all(Array.from({ length: 40 }, () => leaseOf(a, scope)));
    await a.quiet();
    const before = a.stats.exchanges;
    for (let s = 0; s < 600; s += 3) {
      clock.advance(3_000);
      await a.heartbeat();
      await b.heartbeat();
    }
    expect(a.stats.exchanges).toBe(before);
    expect((await b.view(scope)).inFlight).toBe(40);
    for (const stream of streams) await a.settle(stream, used(1));
    await a.view(scope);
    expect((await b.view(scope)).inFlight).toBe(0);
  });
});

describe('loss and return of the server', () => {
  const scope = scopeOf({ requests: { perSecond: 50, burst: 50 }, quotas: hour(10_000) });

  it('goes on with its share of the limit, says so, and charges what was used meanwhile once', async () => {
    const { clock, gateway } = cell();
    const [a, b] = [gateway(), gateway()];
    await a.settle(await leaseOf(a, scope, 50), used(1_000));
    await Promise.all([a.view(scope), b.view(scope)]);
    for (const store of [a, b]) await store.heartbeat();
    await a.heartbeat();
    expect(a.stats.gateways).toBe(2);
    await a.settle(await leaseOf(a, scope, 50), used(100));
    server.pause();
    // This report may reach the server, its answer does not come: it must count once all the same.
    await a.view(scope);
    expect(a.status.state).toBe('degraded');
    clock.advance(5_000);
    expect(await fill(a, scope, 200, 50)).toBe(25);
    clock.advance(1_000);
    expect(await fill(a, scope, 200, 50)).toBe(25);
    clock.advance(1_000);
    await a.settle(await leaseOf(a, scope, 50), used(300));
    const refused = await admit(a, scope, 9_000);
    expect(refused).toMatchObject({ admitted: false, refusal: { kind: 'quota', level: 'tenant', limit: 'hour' } });
    server.resume();
    await Promise.all([connected(a), connected(b)]);
    expect((await b.view(scope)).quotas).toMatchObject([{ used: 1_400 + 50 * 50 }]);
    expect((await a.view(scope)).quotas).toMatchObject([{ used: 1_400 + 50 * 50 }]);
  });

  it('brings quotas back to a server that lost its data, and keeps calls in flight', async () => {
    const { gateway } = cell();
    const [a, b] = [gateway(), gateway()];
    await a.settle(await leaseOf(a, scope, 50), used(4_000));
    await a.view(scope);
    await b.settle(await leaseOf(b, scope, 50), used(3_000));
    await b.view(scope);
    const running = await leaseOf(a, scope, 50);
    await server.kill();
    await eventually(() => expect([a.status.state, b.status.state]).toEqual(['degraded', 'degraded']));
    await server.restart();
    await Promise.all([connected(a), connected(b)]);
    await b.view(scope);
    expect(await a.view(scope)).toMatchObject({ inFlight: 1, quotas: [{ used: 7_050 }] });
    await a.settle(running, used(50));
    await a.view(scope);
    expect(await b.view(scope)).toMatchObject({ inFlight: 0, quotas: [{ used: 7_050 }] });
  });

  it('brings back the quotas also of a tenant that nobody used when the server lost its data', async () => {
    const { clock, gateway } = cell();
    const store = gateway({ flushMs: FLUSH_MS, timers: flushesBy(clock) });
    await store.settle(await leaseOf(store, scope, 50), used(4_000));
    await store.view(scope);
    await eventually(async () => {
      const before = store.stats.exchanges;
      for (let flushes = 0; flushes < 12; flushes += 1) {
        clock.advance(1_000);
        await store.quiet();
      }
      expect(store.stats.exchanges).toBe(before);
    });
    await server.kill();
    await eventually(() => expect(store.status.state).toBe('degraded'));
    await server.restart();
    await connected(store);
    expect((await store.view(scope)).quotas).toMatchObject([{ used: 4_000 }]);
    expect((await gateway().view(scope)).quotas).toMatchObject([{ used: 4_000 }]);
  });

  it('comes back a few tenants at a time, at a moment of its own, however many there are', async () => {
    const clock = createFakeClock(Date.UTC(2026, 0, 15, 11, 59));
    const real = connectAuthority({
      url: server.url,
      cellId: 'herd',
      gatewayId: 'gw-1',
      clock,
      serverTime: () => clock.now(),
      commandTimeoutMs: 2_000,
    });
    const count = { now: 0, most: 0, all: 0 };
    const authority: Authority = {
      ...real,
      get ready() {
        return real.ready;
      },
      async exchange(...args) {
        count.all++;
        count.most = Math.max(count.most, ++count.now);
        try {
          return await real.exchange(...args);
        } finally {
          count.now--;
        }
      },
    };
    const delays: number[] = [];
    const timers = {
      setTimeout(callback: () => void, delayMs: number) {
        delays.push(delayMs);
        return setTimeout(callback, Math.min(delayMs, 1_000)).unref();
      },
      clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout),
    };
    const store = createTierLimitStore(authority, { clock, flushMs: NEVER_MS, random: () => 0.37, timers });
    opened.push(store);
    for (let i = 0; i < 300; i++)
      await leaseOf(store, {
        ...scope,
        tenantId: `t${i}`,
        levels: scope.levels.map((level) => ({ ...level, id: `${level.id}${i}` })),
      });
    await store.quiet();
    server.pause();
    await store.heartbeat();
    expect(store.status.state).toBe('degraded');
    Object.assign(count, { most: 0, all: 0 });
    delays.length = 0;
    server.resume();
    await connected(store);
    expect(delays).toContain(370);
    expect(count.all).toBeGreaterThanOrEqual(300);
    expect(count.most).toBe(16);
  });

  it('comes back for all tenants while one has requests waiting at every moment', async () => {
    const { gateway } = cell();
    const store = gateway();
    await connected(store);
    const noisy: LimitScope = {
      tenantId: 'noisy',
      timeZone: 'UTC',
      levels: [{ level: 'tenant', id: 'noisy', limits: { quotas: [], requests: { perMinute: 1, burst: 1 } } }],
    };
    await leaseOf(store, scope);
    let flooding = true;
    const flood = Array.from({ length: 200 }, async () => {
      while (flooding) {
        await admit(store, noisy);
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    try {
      server.pause();
      await store.heartbeat();
      expect(store.status.state).toBe('degraded');
      server.resume();
      await eventually(() => expect(store.status.state).toBe('connected'));
    } finally {
      flooding = false;
      await Promise.all(flood);
    }
  });

  it('does not hear a killed process whose question was still on its way when the next one asked', async () => {
    const clock = createFakeClock(Date.UTC(2026, 0, 15, 11, 59));
    const [killed, next] = [1, 2].map((life) =>
      connectAuthority({ url: server.url, cellId: 'lives', gatewayId: 'gw-1', life, clock, commandTimeoutMs: 5_000 }),
    ) as [Authority, Authority];
    try {
      await eventually(() => expect([killed.ready, next.ready]).toEqual([true, true]));
      const empty = JSON.stringify({ n: 1, F: 0, C: '', L: [], Q: [] });
      await next.counted('t', []);
      await expect(killed.counted('t', [])).rejects.toThrow('a later process of this gateway');
      expect(await killed.exchange('settle', 't', [], '[]', empty)).toBe('stale');
      expect(await next.exchange('settle', 't', [], '[]', empty)).not.toBe('stale');
    } finally {
      await Promise.all([killed.close(), next.close()]);
    }
  });

  it('starts and admits while the server is down, with an exhausted quota still exhausted', async () => {
    const { clock } = cell();
    await server.kill();
    try {
      const store = createValkeyLimitStore({
        url: server.url,
        cellId: 'down',
        gatewayId: 'gw-1',
        clock,
        commandTimeoutMs: 100,
      });
      opened.push(store);
      await store.restore({
        version: 1,
        savedAtMs: clock.now(),
        windows: [{ level: 'tenant', id: 'poor', quota: 'hour', steps: [[clock.now() - 60_000, 10_000]] }],
      });
      expect((await admit(store, scope)).admitted).toBe(true);
      const poor: LimitScope = {
        ...scope,
        tenantId: 'poor',
        levels: scope.levels.map((level) => ({ ...level, id: 'poor' })),
      };
      expect(await admit(store, poor)).toMatchObject({ admitted: false, refusal: { kind: 'quota' } });
      expect(store.status.state).toBe('degraded');
    } finally {
      await server.restart();
    }
  });
});
