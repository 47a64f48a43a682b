import type { Credential } from '@sluice/contracts';
import { createSlotPool, type SlotLease, type SlotRequest } from '@sluice/limits';
import { createAccount } from '@sluice/resilience';
import { createFakeClock, type FakeClock, type FakeTimer } from '@sluice/testing';
import fc from 'fast-check';
import { createAttemptUnderTest, OK } from '../testing/attempt-under-test.ts';
import type { RawSnapshot } from '../testing/sample-snapshot.ts';
import { AccountRates } from './account-rates.ts';
import { noteLimit } from './account-verdicts.ts';
import { LearnedLimit } from './learned-limit.ts';
import { MinuteWindow } from './minute-window.ts';
import { RateMeter } from './rate-meter.ts';

const credential = (more: Partial<Credential>): Credential => ({ id: 'a', slots: 1_000, weight: 1, ...more });

function request(tenantId: string, more: Partial<SlotRequest> = {}): SlotRequest {
  return {
    tenantId,
    workspaceId: tenantId,
    priority: 'standard',
    model: 'm',
    costTokens: 100,
    maxSharePercent: 100,
    timeoutMs: 600_000,
    ...more,
  };
}

/** An account before which calls wait; each is over at once. */
function account(more: Partial<Credential>) {
  const clock = createFakeClock(1_000_000);
  const rates = new AccountRates(credential(more), clock);
  const timers = {
    setTimeout: clock.setTimeout,
    clearTimeout: (timer: unknown) => clock.clearTimeout(timer as FakeTimer | undefined),
  };
  const pool = createSlotPool({ slots: 1_000, clock, timers, gate: rates });
  const sent: {
    readonly tenantId: string;
    readonly atMs: number;
    readonly waitMs: number;
    readonly lease: SlotLease;
  }[] = [];
  return {
    clock,
    rates,
    pool,
    sent,
    async send(asked: SlotRequest): Promise<void> {
      const from = clock.monotonic();
      const lease = await pool.acquire(asked);
      if (typeof lease === 'string') return;
      lease.release();
      sent.push({ tenantId: asked.tenantId, atMs: clock.monotonic(), waitMs: clock.monotonic() - from, lease });
    },
  };
}

async function pass(clock: FakeClock, ms: number, stepMs = 50): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    clock.advance(stepMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const count = (list: readonly { readonly tenantId: string }[], tenantId: string) =>
  list.filter((one) => one.tenantId === tenantId).length;

describe('a sum over the last minute', () => {
  it('never lets more than the limit into any 60 seconds, and what waits as long as it is told gets in', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ pauseMs: fc.integer({ min: 0, max: 20_000 }), amount: fc.integer({ min: 1, max: 5 }) }), {
          maxLength: 80,
        }),
        (steps) => {
          const window = new MinuteWindow();
          const sent: { at: number; amount: number }[] = [];
          let now = 0;
          for (const { pauseMs, amount } of steps) {
            now += pauseMs;
            const waitMs = window.waitMs(amount, 10, now);
            expect(waitMs).toBeLessThanOrEqual(61_000);
            now += waitMs;
            expect(window.waitMs(amount, 10, now)).toBe(0);
            window.add(amount, now);
            sent.push({ at: now, amount });
            expect(
              sent.filter(({ at }) => at > now - 60_000).reduce((sum, one) => sum + one.amount, 0),
            ).toBeLessThanOrEqual(10);
          }
        },
      ),
    );
  });

  it('lets what is larger than the limit into an empty window only', () => {
    const window = new MinuteWindow();
    expect(window.waitMs(99, 10, 5_000)).toBe(0);
    window.add(1, 5_000);
    expect(window.waitMs(99, 10, 5_000)).toBe(61_000);
    expect(window.waitMs(99, 10, 66_000)).toBe(0);
  });
});

describe('a limit per minute', () => {
  it('lets a tenth through at once, the rest evenly, and never more than all of it in any minute', () => {
    const meter = new RateMeter(600, 0);
    const sent: number[] = [];
    for (let now = 0; now < 180_000; now += 10)
      while (meter.waitMs(1, now) === 0) {
        meter.add(1, now);
        sent.push(now);
      }
    expect(sent.filter((at) => at === 0)).toHaveLength(60);
    for (let from = 0; from < 120_000; from += 1_000) {
      const inMinute = sent.filter((at) => at >= from && at < from + 60_000).length;
      expect(inMinute).toBeLessThanOrEqual(600);
      expect(inMinute).toBeGreaterThan(520);
    }
    // No stall: somebody is sent every fifth of a second or sooner.
    expect(Math.max(...sent.slice(1).map((at, i) => at - (sent[i] as number)))).toBeLessThanOrEqual(200);
  });

  it('of a small account lets one call through at a time', () => {
    const meter = new RateMeter(2, 0);
    expect(meter.waitMs(1, 0)).toBe(0);
    meter.add(1, 0);
    expect(meter.waitMs(1, 0)).toBe(30_500);
    expect(meter.waitMs(1, 30_500)).toBe(0);
  });
});

describe('the rate of an account', () => {
  it('as told for one model holds back nobody who asks for another', async () => {
    const { clock, rates, sent, send } = account({});
    rates.told('m', { requestsPerMinute: 1 });
    for (const tenantId of ['a', 'a', 'b', 'b']) void send(request(tenantId));
    void send(request('c', { model: 'other' }));
    await pass(clock, 50);
    expect([count(sent, 'a') + count(sent, 'b'), count(sent, 'c')]).toEqual([1, 1]);
  });

  it('is shared by weight over those who wait, whatever each sends, and what one leaves unused goes to the others', async () => {
    const { clock, send, sent } = account({ requestsPerMinute: 600 });
    const tenants = [
      ['enterprise', 'high', 40],
      ['noisy', 'standard', 1_000],
      ['other', 'standard', 400],
    ] as const;
    for (const [tenantId, priority, calls] of tenants)
      for (let i = 0; i < calls; i += 1) void send(request(tenantId, { priority }));
    await pass(clock, 20_000);
    const whileAll = sent.filter(
      ({ atMs }) => atMs <= (sent.findLast((one) => one.tenantId === 'enterprise')?.atMs ?? 0),
    );
    const afterBurst = whileAll.slice(60);
    expect(count(sent, 'enterprise')).toBe(40);
    expect(Math.abs(count(afterBurst, 'noisy') - count(afterBurst, 'other'))).toBeLessThanOrEqual(1);
    const alone = sent.slice(whileAll.length);
    expect(alone.length).toBeGreaterThan(50);
    expect(Math.abs(count(alone, 'noisy') - count(alone, 'other'))).toBeLessThanOrEqual(2);
  });

  it('gives a newcomer its turn within a few calls, while a neighbour has a thousand waiting', async () => {
    const { clock, send, sent } = account({ requestsPerMinute: 600 });
    for (let i = 0; i < 1_000; i += 1) void send(request('noisy'));
    await pass(clock, 5_000);
    for (let i = 0; i < 10; i += 1) {
      void send(request('quiet'));
      await pass(clock, 1_000);
    }
    const quiet = sent.filter(({ tenantId }) => tenantId === 'quiet');
    expect(quiet).toHaveLength(10);
    expect(Math.max(...quiet.map(({ waitMs }) => waitMs))).toBeLessThanOrEqual(300);
  });

  it('lets no small call overtake a large one that waits for its tokens', async () => {
    const { clock, send, sent } = account({ tokensPerMinute: 10_000 });
    void send(request('fills', { costTokens: 9_000 }));
    void send(request('large', { costTokens: 5_000 }));
    await pass(clock, 100);
    for (let i = 0; i < 100; i += 1) {
      void send(request('small', { costTokens: 10 }));
      await pass(clock, 1_000, 500);
    }
    expect(sent.map(({ tenantId }) => tenantId).indexOf('large')).toBe(1);
    expect(count(sent, 'small')).toBe(100);
  });

  it('counts tokens by what was expected until it is known what was used, and nothing of what was not sent', async () => {
    const { send, sent, rates, clock } = account({ tokensPerMinute: 1_000 });
    await send(request('t', { costTokens: 900 }));
    expect(rates.waitMs('m', 200)).toBeGreaterThan(0);
    sent[0]?.lease.gateUse?.trueUp(50);
    expect(rates.waitMs('m', 900)).toBe(0);
    sent[0]?.lease.gateUse?.giveBack();
    expect(rates.waitMs('m', 1_000)).toBe(0);
    clock.advance(1);
  });

  it('keeps what was used when its limits change', async () => {
    const { send, rates } = account({ requestsPerMinute: 100 });
    await send(request('t'));
    rates.resize(credential({ requestsPerMinute: 1 }));
    expect(rates.waitMs('m', 1)).toBeGreaterThan(0);
    rates.resize(credential({}));
    expect(rates.waitMs('m', 1)).toBe(0);
  });

  it('that headers tell is kept for that model only', async () => {
    const { send, rates } = account({});
    rates.told('m', { requestsPerMinute: 10 });
    await send(request('t'));
    expect([rates.waitMs('m', 1) > 0, rates.waitMs('n', 1)]).toEqual([true, 0]);
    expect(rates.inForce()).toEqual([{ model: 'm', requestsPerMinute: 10, tokensPerMinute: undefined, from: 'told' }]);
  });
});

describe('a limit that is learned', () => {
  it('begins where refusals begin, shrinks by a tenth at each, never below what was served, and grows slowly', () => {
    const limit = new LearnedLimit();
    for (let at = 0; at < 60_000; at += 100) limit.served(at);
    expect(limit.perMinute(60_000)).toBeUndefined();
    limit.limited(60_000);
    expect(limit.perMinute(60_000)).toBeCloseTo(600, -1);
    for (let at = 60_000; at < 120_000; at += 120) limit.served(at);
    limit.limited(120_000);
    const shrunk = limit.perMinute(120_000) as number;
    expect(shrunk).toBeCloseTo(594, -1);
    limit.limited(120_500);
    expect(limit.perMinute(120_500)).toBeCloseTo(shrunk, -1);
    expect(limit.perMinute(180_000)).toBeCloseTo(1.1 * shrunk, 0);
    expect(limit.perMinute(120_000 + 11 * 60_000)).toBeUndefined();
  });

  it('is none while two tenants are refused and a third is served call after call, and goes where one was learned', () => {
    const clock = createFakeClock(1_000_000);
    const rates = new AccountRates(credential({}), clock);
    const standing = createAccount({ clock });
    const useOf = (tenantId: string) => ({ tenantId, model: 'm', probe: false, born: 0 });
    const limit = (tenantId: string) =>
      noteLimit(
        { capacity: { account: standing, rates }, use: useOf(tenantId) },
        { kind: 'rate_limited', status: 429, detail: '' },
      );
    const serve = (calls: number): void => {
      for (let i = 0; i < calls; i += 1) {
        rates.served('m');
        standing.served(useOf('healthy'));
        clock.advance(50);
      }
    };
    serve(5);
    limit('first');
    limit('second');
    expect(rates.inForce()).toMatchObject([{ from: 'learned' }]);
    serve(5);
    limit('first');
    expect(rates.inForce()).toEqual([]);
    limit('second');
    expect(rates.inForce()).toEqual([]);
  });

  it('is none where too little was served to tell one', () => {
    const limit = new LearnedLimit();
    limit.limited(0);
    expect(limit.perMinute(0)).toBeUndefined();
  });
});

describe('a call', () => {
  const primary =
    (...list: object[]) =>
    (raw: RawSnapshot): void => {
      Object.assign(raw.providers.primary as object, {
        credentials: list.map((one, i) => ({
          id: `c${i}`,
          slots: 5,
          secret: { kind: 'env', name: i === 0 ? 'SLUICE_SECRET_A' : 'SLUICE_SECRET_B' },
          ...one,
        })),
      });
      (raw.plans.team as { policy: Record<string, unknown> }).policy.maxPoolSharePercent = 100;
    };

  it('goes past a provider whose rate has no room for longer than a call may wait, without asking it, and back later', async () => {
    const under = createAttemptUnderTest({ primary: [OK], secondary: [OK] }, primary({ requestsPerMinute: 2 }));
    for (let i = 0; i < 2; i += 1) await under.run();
    expect(under.sent.map(({ provider }) => provider)).toEqual(['primary', 'secondary']);
    expect(under.passed).toEqual(['primary:no_capacity']);
    under.clock.advance(31_000);
    await under.run();
    expect(under.sent[2]?.provider).toBe('primary');
  });

  it('uses another account of the provider first', async () => {
    const under = createAttemptUnderTest(
      { primary: [OK], secondary: [OK] },
      primary({ requestsPerMinute: 1 }, { requestsPerMinute: 1 }),
    );
    for (let i = 0; i < 3; i += 1) await under.run();
    expect(under.sent.map(({ provider, secret }) => `${provider} ${secret}`)).toEqual(
      ['primary SLUICE_SECRET_A', 'primary SLUICE_SECRET_B', 'secondary secret'].map((text, i) =>
        i === 2 ? expect.stringMatching(/^secondary/) : text,
      ),
    );
  });

  it('that nobody else can answer is refused with the wait, and nothing of a refused one is counted', async () => {
    const under = createAttemptUnderTest({ primary: [OK] }, primary({ requestsPerMinute: 1 }));
    await under.run();
    const refused = await under.run();
    expect(refused.code).toBe('upstream_rate_limited');
    await under.run();
    under.clock.advance(61_000);
    expect((await under.run()).code).toBe('ok');
    expect(under.sent).toHaveLength(2);
  });
});
