import { OVERAGE_WINDOW, Tenant, type QuotaWindow } from '@sluice/contracts';
import { createFakeClock } from '@sluice/testing';
import type { ConfigStore, RowChange } from '../config/config-store.ts';
import type { Billing } from './billing.ts';
import { createCapKeeper } from './cap-keeper.ts';

const month = (id: string): QuotaWindow => ({
  id,
  meter: 'total_tokens',
  span: { kind: 'calendar', period: 'month' },
  limit: 1,
  mode: 'hard',
  alertAtPercent: [],
});
const tenant = (id: string, quotas: readonly QuotaWindow[] = []): Tenant =>
  Tenant.parse({ id, name: id, plan: 'team', limits: { quotas } });

function keeperOver(tenants: readonly Tenant[]) {
  const changed: string[] = [];
  const faults: unknown[] = [];
  let waiting = Promise.withResolvers<void>();
  waiting.resolve();
  const store = {
    version: 1,
    snapshot: () => ({ tenants: Object.fromEntries(tenants.map((one) => [one.id, one])) }),
    rowVersion: () => 1,
    change: async ({ changes }: { changes: readonly RowChange[] }) => {
      await waiting.promise;
      changed.push(...changes.map(({ id }) => id));
    },
  } as unknown as ConfigStore;
  const billing = { capWindow: async () => month(OVERAGE_WINDOW) } as unknown as Billing;
  const keeper = createCapKeeper({ store, billing, clock: createFakeClock(0), onError: (error) => faults.push(error) });
  return { keeper, changed, faults, hold: () => (waiting = Promise.withResolvers<void>()) };
}

describe('the keeper of overage caps', () => {
  it('gives every other tenant its window where one has no room for it', async () => {
    const full = tenant(
      'full',
      Array.from({ length: 16 }, (_, i) => month(`q${i}`)),
    );
    const { keeper, changed, faults } = keeperOver([tenant('before'), full, tenant('after')]);
    await keeper.beat();
    expect(changed).toEqual(['before', 'after']);
    expect(faults).toHaveLength(1);
  });

  it('begins no round while one is under way, however long the database takes', async () => {
    const { keeper, changed, hold } = keeperOver([tenant('one')]);
    const held = hold();
    const first = keeper.beat();
    await keeper.beat();
    held.resolve();
    await first;
    expect(changed).toEqual(['one']);
  });
});
