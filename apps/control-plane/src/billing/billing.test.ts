import { Plan, Tenant, type ConfigSnapshot } from '@sluice/contracts';
import type { ConfigHistory, RowAt } from '../config/config-history.ts';
import { createBilling } from './billing.ts';
import type { BillingReader } from './billing-reader.ts';
import { forecastTokens } from './forecast.ts';
import { invoiceOf, refusesAtTokens } from './invoice.ts';

const DAY_MS = 86_400_000;
const at = (text: string): number => Date.parse(text);

function plan(
  id: string,
  totalTokens: number,
  feeUsd: number,
  overage?: { usdPerMillion: number; capUsd: number },
): Plan {
  return Plan.parse({
    id,
    displayName: id,
    policy: { limits: {}, routing: { chain: [{ provider: 'primary' }] } },
    tenantLimits: {},
    priceBook: { version: 1, effectiveFrom: '2026-01-01T00:00:00.000Z', prices: {} },
    allotment: {
      totalTokens,
      feeNanoUsd: feeUsd * 1e9,
      ...(overage === undefined
        ? {}
        : { overage: { picoUsdPerToken: overage.usdPerMillion * 1e6, capNanoUsd: overage.capUsd * 1e9 } }),
    },
  });
}
const TEAM = plan('team', 30_000_000, 200, { usdPerMillion: 3, capUsd: 100 });
const ENTERPRISE = plan('enterprise', 300_000_000, 2_000, { usdPerMillion: 2, capUsd: 500 });
const FREE = plan('free', 1_000, 0);
const acme = (planId: string, more: object = {}): Tenant =>
  Tenant.parse({ id: 'acme', name: 'Acme', plan: planId, limits: {}, ...more });

/** A tenant whose rows and use are told by hand: use is a list of instants and tokens. */
function world(rows: { atMs: number; value: Tenant }[], use: readonly (readonly [string, number])[], credits = 0) {
  const plans = [TEAM, ENTERPRISE, FREE];
  const history: ConfigHistory = {
    of: async (table, id) => {
      const all: RowAt[] =
        table === 'tenants'
          ? rows.map((row, i) => ({ version: i + 1, ...row }))
          : plans.filter((one) => one.id === id).map((value) => ({ version: 1, atMs: 0, value }));
      return all;
    },
    at: async () => undefined,
  };
  const within = (fromMs: number, toMs: number) =>
    use.filter(([text]) => at(text) >= fromMs && at(text) < toMs).reduce((sum, [, tokens]) => sum + tokens, 0);
  const reader: BillingReader = {
    firstDayMs: async () => (use[0] === undefined ? undefined : Math.floor(at(use[0][0]) / DAY_MS) * DAY_MS),
    tokens: async (_tenant, fromMs, toMs) => within(fromMs, toMs),
    byModel: async () => [],
    credits: async () => credits,
    daily: async (_tenant, fromMs, toMs) =>
      Array.from({ length: (toMs - fromMs) / DAY_MS }, (_, i) =>
        within(fromMs + i * DAY_MS, fromMs + (i + 1) * DAY_MS),
      ),
  };
  const snapshot = (): ConfigSnapshot =>
    ({ plans: Object.fromEntries(plans.map((one) => [one.id, one])) }) as unknown as ConfigSnapshot;
  return createBilling({ reader, history, snapshot });
}

describe('a golden month', () => {
  // April 2026 has 30 days. Team until the 11th at noon (10.5 days), then Enterprise (19.5 days).
  //   fee:       200 × 10.5/30 = 70;  2,000 × 19.5/30 = 1,300                                  → 1,370 dollars
  //   allotment: 30 M × 0.35 = 10.5 M;  300 M × 0.65 = 195 M                                    → 205.5 M tokens
  //   use:       12 M on Team; 200 M on Enterprise = 212 M. One pot: 12 M are covered, then 193.5 M; 6.5 M are beyond, all on Enterprise
  //   overage:   6.5 M × 2 dollars a million = 13 dollars;  credit −1 dollar                    → total 1,382 dollars
  const rows = [
    { atMs: at('2026-01-05T00:00:00Z'), value: acme('team') },
    { atMs: at('2026-04-11T12:00:00Z'), value: acme('enterprise') },
  ];
  const use = [
    ['2026-04-03T00:00:00Z', 12_000_000],
    ['2026-04-20T00:00:00Z', 200_000_000],
  ] as const;

  it('is what it is by hand: fee and allotment by time, one pot of tokens, overage by the plan of its time, credits', async () => {
    const statement = await world(rows, use, -1e9).statement(acme('enterprise'), '2026-04', at('2026-05-02T00:00:00Z'));
    expect(statement).toMatchObject({
      from: '2026-04-01T00:00:00.000Z',
      to: '2026-05-01T00:00:00.000Z',
      closed: true,
      fee_nanousd: 1_370e9,
      allotment_tokens: 205_500_000,
      used_tokens: 212_000_000,
      overage_tokens: 6_500_000,
      overage_nanousd: 13e9,
      waived_nanousd: 0,
      credits_nanousd: -1e9,
      total_nanousd: 1_382e9,
      total_usd: '1382',
      segments: [
        {
          plan: 'team',
          to: '2026-04-11T12:00:00.000Z',
          fee_nanousd: 70e9,
          allotment_tokens: 10_500_000,
          used_tokens: 12_000_000,
          overage_tokens: 0,
        },
        {
          plan: 'enterprise',
          fee_nanousd: 1_300e9,
          allotment_tokens: 195_000_000,
          used_tokens: 200_000_000,
          overage_tokens: 6_500_000,
          overage_nanousd: 13e9,
        },
      ],
    });
  });

  it('never charges more overage than the cap, and says what it waives', async () => {
    const capped = acme('enterprise', { overageCapNanoUsd: 10e9 });
    const statement = await world(
      [...rows.slice(0, 1), { atMs: at('2026-04-11T12:00:00Z'), value: capped }],
      use,
    ).statement(capped, '2026-04', at('2026-05-02T00:00:00Z'));
    expect(statement).toMatchObject({
      overage_nanousd: 13e9,
      overage_cap_nanousd: 10e9,
      waived_nanousd: 3e9,
      total_nanousd: 1_380e9,
    });
  });

  it.each([
    ['a higher cap', acme('enterprise', { overageCapNanoUsd: 400e9 })],
    ['a plan that sells no overage', acme('free')],
  ])('is charged by its own cap, although %s came after it', async (_what, later) => {
    const capped = [
      ...rows.slice(0, 1),
      { atMs: at('2026-04-11T12:00:00Z'), value: acme('enterprise', { overageCapNanoUsd: 10e9 }) },
      { atMs: at('2026-05-01T09:00:00Z'), value: later },
    ];
    expect(await world(capped, use).statement(later, '2026-04', at('2026-05-02T00:00:00Z'))).toMatchObject({
      overage_cap_nanousd: 10e9,
      waived_nanousd: 3e9,
      total_nanousd: 1_380e9,
    });
  });

  it('is charged by the cap of the plan that sold its overage, although another one followed within it', async () => {
    const left = [...rows, { atMs: at('2026-04-25T00:00:00Z'), value: acme('free') }];
    const heavy = [['2026-04-20T00:00:00Z', 600_000_000]] as const;
    const billing = world(left, heavy);
    for (const now of ['2026-04-28T00:00:00Z', '2026-05-02T00:00:00Z']) {
      expect(await billing.statement(acme('free'), '2026-04', at(now))).toMatchObject({
        overage_cap_nanousd: 500e9,
        total_nanousd: 70e9 + 900e9 + 500e9,
      });
    }
  });

  it('has no statement before the tenant’s first month, nor of one that has not begun', async () => {
    const billing = world(rows, use);
    for (const month of ['2025-12', '2026-06', '2026-13'])
      expect(await billing.statement(acme('team'), month, at('2026-05-02T00:00:00Z'))).toBeUndefined();
    expect((await billing.current(acme('enterprise'), at('2026-05-02T00:00:00Z'))).months).toEqual([
      '2026-05',
      '2026-04',
      '2026-03',
      '2026-02',
      '2026-01',
    ]);
  });

  it('follows the tenant’s own calendar', async () => {
    const kolkata = acme('team', { timeZone: 'Asia/Kolkata' });
    const statement = await world([{ atMs: 0, value: kolkata }], [['2026-03-31T19:00:00Z', 5]]).statement(
      kolkata,
      '2026-04',
      at('2026-05-02T00:00:00Z'),
    );
    expect(statement).toMatchObject({
      month: '2026-04',
      from: '2026-03-31T18:30:00.000Z',
      to: '2026-04-30T18:30:00.000Z',
      used_tokens: 5,
      fee_nanousd: 200e9,
    });
  });
});

describe('the hard cap', () => {
  it('is a quota of gateways: the month’s allotment and what the cap buys, rounded down', async () => {
    const billing = world([{ atMs: 0, value: acme('team') }], []);
    // 100 dollars at 3 a million are 33,333,333 tokens.
    expect(await billing.capWindow(acme('team'), at('2026-04-10T00:00:00Z'))).toEqual({
      id: 'overage-cap',
      meter: 'total_tokens',
      span: { kind: 'calendar', period: 'month' },
      limit: 63_333_333,
      mode: 'hard',
      alertAtPercent: [80, 100],
    });
    expect((await billing.capWindow(acme('team', { overageCapNanoUsd: 0 }), at('2026-04-10T00:00:00Z')))?.limit).toBe(
      30_000_000,
    );
    expect(await billing.capWindow(acme('free'), at('2026-04-10T00:00:00Z'))).toBeUndefined();
  });

  it('can never be passed by tokens that a gateway lets through', () => {
    const span = {
      fromMs: 0,
      toMs: 30 * DAY_MS,
      terms: { plan: 'p', planName: 'p', feeNanoUsd: 0, allotmentTokens: 7, overagePicoUsd: 3 },
    };
    for (const capNanoUsd of [0, 1, 2, 10, 999]) {
      const limit = refusesAtTokens([span], 30 * DAY_MS, capNanoUsd) ?? NaN;
      const cost = (tokens: number) =>
        invoiceOf({
          spans: [span],
          usedTokens: [tokens],
          monthMs: 30 * DAY_MS,
          capNanoUsd: undefined,
          creditsNanoUsd: 0,
        }).overageNanoUsd;
      expect(cost(limit)).toBeLessThanOrEqual(capNanoUsd);
    }
  });
});

describe('a forecast', () => {
  const month = { monthStartMs: 0, monthEndMs: 30 * DAY_MS };

  it('goes on with the mean of complete days and widens with how they vary', () => {
    expect(forecastTokens({ ...month, nowMs: 20 * DAY_MS, usedTokens: 100, days: [10, 10, 10] })).toMatchObject({
      low: 200,
      expected: 200,
      high: 200,
      perDay: 10,
    });
    // Mean 10, variance 50: 1.2816 × √(50 × 10) = 28.66 around 200.
    expect(forecastTokens({ ...month, nowMs: 20 * DAY_MS, usedTokens: 100, days: [5, 15] })).toMatchObject({
      low: 171,
      expected: 200,
      high: 229,
    });
  });

  it('is never below what is used, and says nothing in the first hour', () => {
    expect(
      forecastTokens({ ...month, nowMs: 29 * DAY_MS, usedTokens: 100, days: [0, 100] })?.low,
    ).toBeGreaterThanOrEqual(100);
    expect(forecastTokens({ ...month, nowMs: 1, usedTokens: 100, days: [] })).toBeUndefined();
    expect(forecastTokens({ ...month, nowMs: 3 * DAY_MS, usedTokens: 30, days: [] })).toMatchObject({
      low: 30,
      expected: 300,
      high: 570,
    });
  });

  it('tells when the cap would be met', async () => {
    const use = Array.from({ length: 10 }, (_, i) => [`2026-04-0${Math.min(9, i + 1)}T12:00:00Z`, 5_000_000] as const);
    const { forecast } = await world([{ atMs: 0, value: acme('team') }], use).current(
      acme('team'),
      at('2026-04-10T00:00:00Z'),
    );
    expect(forecast?.tokens.expected).toBeGreaterThan(63_333_333);
    expect(forecast?.cap_reached_at?.slice(0, 7)).toBe('2026-04');
    expect(forecast?.total_nanousd.high).toBe(300e9);
  });
});

describe('a changed time zone', () => {
  const DAYS = [
    ['2026-03-31T20:00:00Z', 1_000_000],
    ['2026-04-01T02:00:00Z', 2_000_000],
    ['2026-04-30T16:00:00Z', 4_000_000],
    ['2026-04-30T23:00:00Z', 8_000_000],
  ] as const;
  const moved = (zone: string) => [
    { atMs: at('2026-01-05T00:00:00Z'), value: acme('team') },
    { atMs: at('2026-04-15T00:00:00Z'), value: acme('team', { timeZone: zone }) },
  ];

  it.each(['Asia/Tokyo', 'America/Los_Angeles'])('to %s moves no closed month', async (zone) => {
    const now = at('2026-05-10T00:00:00Z');
    const before = await world(moved(zone).slice(0, 1), DAYS).statement(acme('team'), '2026-03', now);
    const after = await world(moved(zone), DAYS).statement(acme('team', { timeZone: zone }), '2026-03', now);
    expect(after).toMatchObject({ from: before?.from, to: before?.to, used_tokens: 1_000_000 });
  });

  it('puts every hour into one month: the next begins where the last has ended', async () => {
    const tenant = acme('team', { timeZone: 'Asia/Tokyo' });
    const billing = world(moved('Asia/Tokyo'), DAYS);
    const now = at('2026-06-10T00:00:00Z');
    const [april, may] = [
      await billing.statement(tenant, '2026-04', now),
      await billing.statement(tenant, '2026-05', now),
    ];
    expect(april).toMatchObject({
      from: '2026-04-01T00:00:00.000Z',
      to: '2026-04-30T15:00:00.000Z',
      used_tokens: 2_000_000,
    });
    expect(may).toMatchObject({
      from: '2026-04-30T15:00:00.000Z',
      to: '2026-05-31T15:00:00.000Z',
      used_tokens: 12_000_000,
    });
  });

  it.each([
    ['Asia/Tokyo', 1_000_000],
    ['America/Los_Angeles', -2_000_000],
  ])('to %s lets the cap refuse at the same use as the month that is billed', async (zone, between) => {
    const now = at('2026-04-20T00:00:00Z');
    const limitOf = async (rows: { atMs: number; value: Tenant }[], tenant: Tenant) =>
      (await world(rows, DAYS).capWindow(tenant, now))?.limit ?? 0;
    const plain = await limitOf(moved(zone).slice(0, 1), acme('team'));
    expect((await limitOf(moved(zone), acme('team', { timeZone: zone }))) - plain).toBe(between);
  });
});
