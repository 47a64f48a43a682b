import { heightOf } from '@sluice/routing';
import { simulateDrift } from '../testing/simulate-drift.ts';

const SEEDS = [1, 2];
const HALF = { decisions: 16_000, changeAt: 8_000, model: 'pro', factor: 0.7 };

describe('reactions to drift, on the simulator', () => {
  it.each(SEEDS)(
    'lose less than a router without them when the most used model falls by 30 %% (seed %i)',
    (seed) => {
      const [without, withThem] = (['watching', 'rollback'] as const).map((highest) =>
        simulateDrift({ seed, highest, ...HALF }),
      );
      expect(without?.steps).toEqual([]);
      const after = withThem?.steps.filter(({ seq }) => seq > HALF.changeAt) ?? [];
      expect(
        after
          .filter(({ kind }) => kind === 'up')
          .map(({ to }) => to)
          .slice(0, 4),
      ).toEqual(['alert', 'explore', 'forget_slowly', 'forget']);
      // What is mended by forgetting is not frozen, and the ladder comes down again.
      expect(after.some(({ to }) => to === 'freeze' || to === 'rollback')).toBe(false);
      expect(
        after
          .filter(({ kind }) => kind === 'down')
          .map(({ to }) => to)
          .slice(0, 2),
      ).toEqual(['forget_slowly', 'explore']);
      expect(withThem?.regret).toBeLessThan(0.95 * (without?.regret as number));
      expect(withThem?.mix['pro']).toBeLessThan(0.75 * (without?.mix['pro'] as number));
    },
    180_000,
  );

  it('go no further than an alert where nothing drifts, on any of six seeds', () => {
    const heights = [11, 12, 13, 14, 15, 16].map((seed) =>
      Math.max(
        0,
        ...simulateDrift({ seed, decisions: 6_000, highest: 'rollback' }).steps.map(({ to }) => heightOf(to)),
      ),
    );
    expect(Math.max(...heights)).toBeLessThanOrEqual(heightOf('alert'));
  }, 180_000);
});
