import { createFakeClock } from '@sluice/testing';
import fc from 'fast-check';
import { createAccount } from './account.ts';

function setUp() {
  const clock = createFakeClock(1_000_000);
  return {
    clock,
    account: createAccount({
      clock,
      coolingMs: 1_000,
      maxCoolingMs: 60_000,
      refusedRestMs: 30_000,
      probeTimeoutMs: 10_000,
    }),
  };
}

describe('an account that the provider limits', () => {
  it('rests as long as was asked, at most a minute, and a second without a word', () => {
    for (const [asked, rest] of [
      [undefined, 1_000],
      [2_500, 2_500],
      [900_000, 60_000],
    ] as const) {
      const { clock, account } = setUp();
      account.rateLimited(asked);
      expect(account.state).toEqual({ kind: 'cooling', untilMs: 1_000_000 + rest });
      clock.advance(rest - 1);
      expect([account.tryUse(), account.usable, account.restMs()]).toEqual([undefined, false, 1]);
      clock.advance(1);
      expect([account.usable, account.tryUse(), account.state.kind]).toEqual([true, 'use', 'ok']);
    }
  });

  it('is not woken earlier by a later, shorter wish', () => {
    const { account } = setUp();
    account.rateLimited(20_000);
    account.rateLimited(1_000);
    expect(account.restMs()).toBe(20_000);
  });
});

describe('an account that the provider refuses', () => {
  it('begins one episode, however many calls are refused, and ends it with one accepted probe', () => {
    const { clock, account } = setUp();
    expect([account.refused(401), account.refused(401), account.refused(401)]).toEqual([true, false, false]);
    expect(account.state).toEqual({ kind: 'refused', status: 401, sinceMs: 1_000_000, retryAtMs: 1_030_000 });
    clock.advance(30_000);
    expect([account.tryUse(), account.tryUse(), account.tryUse()]).toEqual(['probe', undefined, undefined]);
    expect([account.accepted(), account.accepted()]).toEqual([true, false]);
    expect([account.tryUse(), account.refused(403)]).toEqual(['use', true]);
  });

  it("is not taken from everybody by one call's 402 or 403 while it serves others, but is when it serves nobody any more", () => {
    const { clock, account } = setUp();
    account.served();
    clock.advance(9_999);
    expect([account.refused(403), account.refused(402), account.state.kind]).toEqual([false, false, 'ok']);
    clock.advance(1);
    expect([account.refused(403), account.state.kind]).toEqual([true, 'refused']);
  });

  it('is refused at once by a 401, whoever was served before', () => {
    const { account } = setUp();
    account.served();
    expect(account.refused(401)).toBe(true);
  });

  it('rests again after a refused probe, in the same episode', () => {
    const { clock, account } = setUp();
    account.refused(402);
    clock.advance(30_000);
    account.tryUse();
    expect(account.refused(402)).toBe(false);
    expect(account.restMs()).toBe(30_000);
  });

  it('gives the place of a probe without an answer to another, at once when it is told so', () => {
    const { clock, account } = setUp();
    account.refused(401);
    clock.advance(30_000);
    account.tryUse();
    account.inconclusive();
    expect(account.tryUse()).toBe('probe');
    clock.advance(9_999);
    expect(account.tryUse()).toBeUndefined();
    clock.advance(1);
    expect(account.tryUse()).toBe('probe');
  });

  it('stays refused when a call from before is only rate limited', () => {
    const { account } = setUp();
    account.refused(401);
    account.rateLimited(undefined);
    expect(account.state.kind).toBe('refused');
  });
});

it('never lets two probes go within the probe timeout, and alerts once per episode, whatever happens', () => {
  const step = fc.record({
    what: fc.constantFrom('use', 'refused', 'accepted', 'limited', 'inconclusive'),
    waitMs: fc.integer({ min: 0, max: 20_000 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const { clock, account } = setUp();
      let probeAt: number | undefined;
      let alerts = 0;
      let episodes = 0;
      for (const { what, waitMs } of steps) {
        clock.advance(waitMs);
        const before = account.state.kind;
        if (what === 'use') {
          const use = account.tryUse();
          expect(use === undefined).toBe(before === 'cooling' || (before === 'refused' && use === undefined));
          if (use !== 'probe') continue;
          expect(probeAt === undefined || clock.monotonic() - probeAt >= 10_000).toBe(true);
          probeAt = clock.monotonic();
        } else if (what === 'refused') {
          if (account.refused(401)) alerts++;
          if (before !== 'refused') episodes++;
          probeAt = undefined;
        } else if (what === 'accepted') {
          account.accepted();
          probeAt = undefined;
        } else if (what === 'limited') account.rateLimited(500);
        else {
          account.inconclusive();
          probeAt = undefined;
        }
      }
      expect(alerts).toBe(episodes);
    }),
  );
});
