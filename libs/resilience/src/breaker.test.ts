import { createFakeClock, type FakeClock } from '@sluice/testing';
import fc from 'fast-check';
import { createBreaker, type Breaker, type BreakerChange, type BreakerPass } from './breaker.ts';

const OPTIONS = {
  failurePercent: 20,
  windowMs: 30_000,
  minimumCalls: 20,
  cooldownMs: 10_000,
  probes: 3,
  probeTimeoutMs: 60_000,
};

function setUp(options: Partial<typeof OPTIONS> = {}): {
  clock: FakeClock;
  breaker: Breaker;
  changes: BreakerChange[];
} {
  const clock = createFakeClock(1_000_000);
  const changes: BreakerChange[] = [];
  return {
    clock,
    changes,
    breaker: createBreaker({ clock, options: { ...OPTIONS, ...options }, onChange: (change) => changes.push(change) }),
  };
}

function enter(breaker: Breaker): BreakerPass {
  const pass = breaker.tryEnter('acme');
  if (pass === undefined) throw new Error('the breaker is open');
  return pass;
}

function open(breaker: Breaker): void {
  for (let i = 0; i < OPTIONS.minimumCalls; i++) enter(breaker).fail();
}

describe('createBreaker', () => {
  it('opens at the failure share, and not before the minimum volume', () => {
    const { breaker, changes } = setUp();
    for (let i = 0; i < 4; i++) enter(breaker).fail();
    for (let i = 0; i < 15; i++) enter(breaker).succeed();
    expect(breaker.report().state).toBe('closed');
    enter(breaker).succeed();
    expect(breaker.report()).toMatchObject({ state: 'open', retryAtMs: 1_010_000 });
    expect(breaker.report()).toEqual({
      state: 'open',
      failurePercent: 20,
      calls: 20,
      retryAtMs: 1_010_000,
      tenants: 1,
      tenantsOpen: 1,
      openFor: ['acme'],
    });
    expect(breaker.tryEnter('acme')).toBeUndefined();
    expect(changes).toMatchObject([{ from: 'closed', to: 'open' }]);
  });

  it('forgets failures that are older than the window', () => {
    const { clock, breaker } = setUp();
    for (let i = 0; i < 19; i++) enter(breaker).fail();
    clock.advance(30_000);
    enter(breaker).fail();
    expect(breaker.report()).toMatchObject({ state: 'closed', calls: 1, failurePercent: 100 });
  });

  it('counts no verdict for an ignored call and only the first answer of a pass', () => {
    const { breaker } = setUp();
    for (let i = 0; i < 50; i++) enter(breaker).ignore();
    const pass = enter(breaker);
    pass.succeed();
    for (let i = 0; i < 50; i++) pass.fail();
    expect(breaker.report()).toMatchObject({ calls: 1, failurePercent: 0 });
  });

  it('lets only the bounded number of 1,000 concurrent callers through when half open', () => {
    const { clock, breaker } = setUp();
    open(breaker);
    clock.advance(9_999);
    expect(breaker.tryEnter('acme')).toBeUndefined();
    clock.advance(1);
    expect(breaker.report().state).toBe('half_open');
    const passes = Array.from({ length: 1_000 }, () => breaker.tryEnter('acme')).filter((pass) => pass !== undefined);
    expect(passes).toHaveLength(3);
    expect(passes.every((pass) => pass.probe)).toBe(true);
    passes[0]?.succeed();
    expect(breaker.tryEnter('acme')).toBeUndefined();
  });

  it('closes when as many probes succeed, with an empty window', () => {
    const { clock, breaker, changes } = setUp();
    open(breaker);
    clock.advance(10_000);
    for (let i = 0; i < 3; i++) enter(breaker).succeed();
    expect(breaker.report()).toMatchObject({ state: 'closed', calls: 0 });
    expect(changes.map(({ to }) => to)).toEqual(['open', 'half_open', 'closed']);
  });

  it('opens again for a whole cooldown when one probe fails', () => {
    const { clock, breaker } = setUp();
    open(breaker);
    clock.advance(10_000);
    const [first, second] = [enter(breaker), enter(breaker)];
    first.fail();
    second.succeed();
    expect(breaker.report()).toMatchObject({ state: 'open', retryAtMs: 1_020_000 });
  });

  it('gives the place of an ignored or unanswered probe to another', () => {
    const { clock, breaker } = setUp({ probes: 1 });
    open(breaker);
    clock.advance(10_000);
    enter(breaker).ignore();
    const hanging = enter(breaker);
    expect(breaker.tryEnter('acme')).toBeUndefined();
    clock.advance(60_000);
    const next = enter(breaker);
    hanging.fail();
    expect(breaker.report().state).toBe('half_open');
    next.succeed();
    expect(breaker.report().state).toBe('closed');
  });

  it('does not count verdicts of calls that began before it opened', () => {
    const { clock, breaker } = setUp();
    const stale = Array.from({ length: 30 }, () => enter(breaker));
    open(breaker);
    clock.advance(10_000);
    stale[0]?.fail();
    expect(breaker.report().state).toBe('half_open');
    for (let i = 0; i < 3; i++) enter(breaker).succeed();
    for (const pass of stale) pass.fail();
    expect(breaker.report()).toMatchObject({ state: 'closed', calls: 0 });
  });

  it('keeps its state under other settings, and goes by them from then on', () => {
    const { clock, breaker } = setUp();
    open(breaker);
    breaker.configure({ ...OPTIONS, probes: 1, cooldownMs: 500 });
    expect(breaker.report()).toMatchObject({ state: 'open', retryAtMs: 1_010_000 });
    clock.advance(10_000);
    const probe = enter(breaker);
    expect(breaker.tryEnter('acme')).toBeUndefined();
    probe.fail();
    expect(breaker.report()).toMatchObject({ state: 'open', retryAtMs: 1_010_500 });
    clock.advance(500);
    enter(breaker).succeed();
    expect(breaker.report().state).toBe('closed');
  });

  it('lets 1,000 callers that come all the time make no more probes than places, also when no probe is ever answered', () => {
    const { clock, breaker } = setUp();
    open(breaker);
    clock.advance(10_000);
    let admitted = 0;
    for (let second = 0; second < 180; second++) {
      for (let i = 0; i < 1_000; i++) if (breaker.tryEnter('acme') !== undefined) admitted++;
      clock.advance(1_000);
    }
    // Three places, each free again after the probe timeout of a minute.
    expect(admitted).toBe(9);
  });

  it('agrees with a model that keeps every verdict', () => {
    const step = fc.record({
      verdict: fc.constantFrom('succeed', 'succeed', 'fail', 'ignore'),
      waitMs: fc.integer({ min: 0, max: 1500 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 10, max: 60 }), (steps, failurePercent) => {
        const { clock, breaker } = setUp({
          failurePercent,
          minimumCalls: 5,
          windowMs: 10_000,
          cooldownMs: 3_000,
          probes: 2,
        });
        let verdicts: { step: number; failed: boolean }[] = [];
        let state: 'closed' | 'open' | 'half_open' = 'closed';
        let openUntil = 0;
        let succeeded = 0;
        for (const { verdict, waitMs } of steps) {
          clock.advance(waitMs);
          const now = clock.monotonic();
          if (state === 'open' && now >= openUntil) [state, succeeded] = ['half_open', 0];
          const pass = breaker.tryEnter('acme');
          expect(pass !== undefined).toBe(state !== 'open');
          pass?.[verdict as 'succeed']();
          if (state === 'half_open' && verdict === 'succeed' && ++succeeded === 2) [state, verdicts] = ['closed', []];
          else if (state === 'half_open' && verdict === 'fail') [state, openUntil] = ['open', now + 3_000];
          else if (state === 'closed' && verdict !== 'ignore') {
            verdicts.push({ step: Math.floor(now / 1000), failed: verdict === 'fail' });
            verdicts = verdicts.filter((one) => one.step > Math.floor(now / 1000) - 10);
            const failures = verdicts.filter(({ failed }) => failed).length;
            if (verdicts.length >= 5 && failures * 100 >= failurePercent * verdicts.length)
              [state, openUntil] = ['open', now + 3_000];
          }
          expect(breaker.report().state).toBe(state);
        }
      }),
    );
  });
});
