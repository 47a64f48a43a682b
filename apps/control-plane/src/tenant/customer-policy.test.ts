import type { QuotaWindow } from '@sluice/contracts';
import { demoSeed } from '../testing/demo-seed.ts';
import { seedConfig } from '../config/seed-config.ts';
import { createMemoryConfigRepository } from '../config/memory-config-repository.ts';
import { createConfigStore } from '../config/config-store.ts';
import { createFakeClock } from '@sluice/testing';
import { editedOverride } from './customer-policy.ts';

async function planWith(window: QuotaWindow) {
  const repository = createMemoryConfigRepository();
  await seedConfig({ repository, clock: createFakeClock(0) }, demoSeed());
  const store = createConfigStore({ repository });
  await store.load();
  const plan = store.snapshot().plans['free'];
  if (plan === undefined) throw new Error('the demo has a plan free');
  return { ...plan, policy: { ...plan.policy, limits: { ...plan.policy.limits, quotas: [window] } } };
}

describe("a customer's window of a plan's quota", () => {
  const window: QuotaWindow = {
    id: 'month',
    meter: 'total_tokens',
    span: { kind: 'calendar', period: 'month' },
    limit: 1_000,
    mode: 'hard',
    alertAtPercent: [80],
    refuseAtPercent: 90,
  };

  it.each<[string, Partial<QuotaWindow>]>([
    ['by one hundredth', { refuseAtPercent: 91 }],
    ['at the end of the window', { refuseAtPercent: undefined }],
  ])('refuses no later than the plan, not even %s', async (_when, more) => {
    const plan = await planWith(window);
    const edit = () => editedOverride({}, { limits: { quotas: [{ ...window, ...more }] } }, plan);
    expect(edit).toThrow(
      expect.objectContaining({
        status: 400,
        errors: [
          { path: 'limits.quotas', message: 'must refuse in the window month at 900 or before, as the plan does' },
        ],
      }),
    );
  });

  it.each([{ refuseAtPercent: 50 }, { limit: 900, refuseAtPercent: 100 }])(
    'may refuse earlier, by %j',
    async (more) => {
      const plan = await planWith(window);
      const quotas = [{ ...window, ...more }];
      expect(editedOverride({}, { limits: { quotas } }, plan)).toEqual({ limits: { quotas } });
    },
  );
});
