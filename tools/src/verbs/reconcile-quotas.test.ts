import { MONTH_WINDOW } from '../demo/demo-tenants.ts';
import { monthsOf, reconcileMonths } from './reconcile-quotas.ts';

const quota = {
  level: 'tenant',
  window: MONTH_WINDOW,
  meter: 'total_tokens',
  used: 5_000,
  resets_at: '2026-12-01T00:00:00.000Z',
};

const acme = { id: 'acme', timeZone: 'UTC' };

describe('the monthly counters', () => {
  it('are read with the month that they count', () => {
    expect(
      monthsOf({ workspace: 'acme-prod', quotas: [quota, { ...quota, level: 'workspace', used: 7 }] }, acme),
    ).toEqual([
      { owner: 'tenant acme', scope: { tenant: 'acme' }, from: '2026-11-01T00:00:00.000Z', counted: 5_000 },
      { owner: 'workspace acme-prod', scope: { workspace: 'acme-prod' }, from: '2026-11-01T00:00:00.000Z', counted: 7 },
    ]);
  });

  it.each([
    ['Asia/Tokyo', '2026-11-30T15:00:00.000Z', '2026-10-31T15:00:00.000Z'],
    ['America/New_York', '2026-12-01T05:00:00.000Z', '2026-11-01T04:00:00.000Z'],
    ['Europe/Berlin', '2026-02-28T23:00:00.000Z', '2026-01-31T23:00:00.000Z'],
  ])('are read with the month of the zone of their tenant: %s', (timeZone, resets_at, from) => {
    const months = monthsOf({ workspace: 'acme-prod', quotas: [{ ...quota, resets_at }] }, { id: 'acme', timeZone });
    expect(months.map((month) => month.from)).toEqual([from]);
  });

  it.each([
    ['of another window', { window: 'hour' }],
    ['of money', { meter: 'cost_nanousd' }],
    ['that never end', { resets_at: null }],
    ['of a key, which the ledger has no sum of by month here', { level: 'key' }],
  ])('leave out windows %s', (_what, more) => {
    expect(monthsOf({ workspace: 'acme-prod', quotas: [{ ...quota, ...more }] }, acme)).toEqual([]);
  });

  it('that are not the sum of the ledger are named with both figures', () => {
    const [month] = monthsOf({ workspace: 'acme-prod', quotas: [quota] }, acme);
    if (month === undefined) throw new Error('no month');
    expect(reconcileMonths([{ ...month, inLedger: 5_000 }])).toEqual([]);
    expect(reconcileMonths([{ ...month, inLedger: 4_999 }])).toEqual([
      'the quota of tenant acme has counted 5000 tokens since 2026-11-01T00:00:00.000Z, the ledger holds 4999',
    ]);
  });
});
