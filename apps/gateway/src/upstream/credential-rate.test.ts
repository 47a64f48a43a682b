import type { Credential } from '@sluice/contracts';
import { createFakeClock } from '@sluice/testing';
import fc from 'fast-check';
import { createAttemptUnderTest, OK } from '../testing/attempt-under-test.ts';
import type { RawSnapshot } from '../testing/sample-snapshot.ts';
import { CredentialRate } from './credential-rate.ts';
import { MinuteWindow } from './minute-window.ts';

const credential = (more: Partial<Credential>): Credential => ({ id: 'a', slots: 10, weight: 1, ...more });
const of = (tenantId: string, tokens = 0, maxSharePercent = 100) => ({ tenantId, tokens, maxSharePercent });

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

describe('the rate of an account', () => {
  it('counts tokens by what was expected until it is known what was used', () => {
    const rate = new CredentialRate(credential({ tokensPerMinute: 1_000 }), createFakeClock(0));
    const use = rate.take(of('t', 900));
    expect(rate.waitMs(of('t', 200))).toBeGreaterThan(0);
    use.trueUp(100);
    expect(rate.waitMs(of('t', 900))).toBe(0);
    expect(rate.waitMs(of('t', 901))).toBeGreaterThan(0);
  });

  it('leaves other tenants what one may not have of it, and an account of one tenant to that tenant', () => {
    const demand = (tenant: string) => of(tenant, 0, 50);
    const shared = new CredentialRate(credential({ requestsPerMinute: 4 }), createFakeClock(0));
    const own = new CredentialRate(credential({ requestsPerMinute: 4, tenants: ['noisy'] }), createFakeClock(0));
    for (let i = 0; i < 2; i += 1) for (const rate of [shared, own]) rate.take(demand('noisy'));
    expect([shared.waitMs(demand('noisy')) > 0, shared.waitMs(demand('quiet')), own.waitMs(demand('noisy'))]).toEqual([
      true,
      0,
      0,
    ]);
  });

  it('keeps what was used when its limits change, and counts nothing that was given back', () => {
    const rate = new CredentialRate(credential({ requestsPerMinute: 2 }), createFakeClock(0));
    rate.take(of('t'));
    rate.take(of('t')).giveBack();
    expect(rate.waitMs(of('t'))).toBe(0);
    rate.resize(credential({ requestsPerMinute: 1 }));
    expect(rate.waitMs(of('t'))).toBeGreaterThan(0);
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

  it('goes past a provider whose requests of this minute are used, without asking it, and back when they are free again', async () => {
    const under = createAttemptUnderTest({ primary: [OK], secondary: [OK] }, primary({ requestsPerMinute: 2 }));
    for (let i = 0; i < 3; i += 1) await under.run();
    expect(under.sent.map(({ provider }) => provider)).toEqual(['primary', 'primary', 'secondary']);
    expect(under.passed).toEqual(['primary:no_capacity']);
    expect(under.capacity.report()[0]?.state).toBe('cooldown');
    under.clock.advance(61_000);
    await under.run();
    expect(under.sent[3]?.provider).toBe('primary');
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
    const under = createAttemptUnderTest({ primary: [OK] }, primary({ tokensPerMinute: 3 }));
    await under.run();
    const refused = await under.run();
    expect(refused.code).toBe('upstream_rate_limited');
    await under.run();
    under.clock.advance(61_000);
    expect((await under.run()).code).toBe('ok');
    expect(under.sent).toHaveLength(2);
  });
});
