import fc from 'fast-check';
import { decide, type Candidate, type DecisionSettings } from './decide.ts';

const SETTINGS: DecisionSettings = { alpha: 1, threshold: 0.78, gamma: 60, floor: 0.01, costWeight: 0.2 };
const arm = (model: string, costNanoUsd: number, mean: number, width = 0.01, excluded?: string): Candidate => ({
  model,
  costNanoUsd,
  prediction: { mean, width },
  ...(excluded === undefined ? {} : { excluded }),
});
const FOUR = [
  arm('nano', 200, 0.7, 0.02),
  arm('mini', 1_000, 0.8, 0.03),
  arm('pro', 4_000, 0.88, 0.02),
  arm('max', 10_000, 0.9, 0.05),
];

describe('a decision', () => {
  it('stands on the cheapest model that is proven good enough and never draws one that cannot be', () => {
    const decision = decide(FOUR, SETTINGS, 0);
    expect(decision).toMatchObject({ base: 'pro', fallback: false });
    expect(decision?.arms.map(({ confidence }) => confidence)).toEqual(['rejected', 'possible', 'proven', 'proven']);
    expect(decision?.arms[0]?.probability).toBe(0);
  });

  it('says so when nothing is proven, and takes the best guess', () => {
    expect(decide(FOUR, { ...SETTINGS, threshold: 0.99 }, 0.5)).toMatchObject({ base: 'max', fallback: true });
  });

  it('stands by the rule of utility on the arm with the most quality for its cost that can be good enough', () => {
    const rule = { ...SETTINGS, rule: 'utility' as const };
    expect(decide(FOUR, rule, 0)).toMatchObject({ base: 'pro', fallback: false });
    expect(decide(FOUR, { ...rule, costWeight: 1 }, 0)).toMatchObject({ base: 'mini', fallback: false });
    expect(decide(FOUR, { ...rule, costWeight: 1, threshold: 0.6 }, 0)).toMatchObject({ base: 'mini' });
    expect(decide(FOUR, { ...rule, threshold: 0.99 }, 0)).toMatchObject({ base: 'max', fallback: true });
  });

  it('weighs cost against one reference for all requests where one is set, so that a dear request saves sooner', () => {
    const settings = { ...SETTINGS, threshold: 0, rule: 'utility' as const, costWeight: 0.1, referenceCost: 10_000 };
    const times = (factor: number) =>
      FOUR.map((candidate) => ({ ...candidate, costNanoUsd: candidate.costNanoUsd * factor }));
    expect([0.1, 1, 3, 50].map((factor) => decide(times(factor), settings, 0)?.base)).toEqual([
      'max',
      'pro',
      'mini',
      'nano',
    ]);
    const { referenceCost: _none, ...relative } = settings;
    expect([0.1, 1, 3, 50].map((factor) => decide(times(factor), relative, 0)?.base)).toEqual([
      'pro',
      'pro',
      'pro',
      'pro',
    ]);
    expect(() => decide(FOUR, { ...settings, referenceCost: 0 }, 0)).toThrow('reference cost');
  });

  it('has nothing to say when every candidate is excluded, and never draws an excluded one', () => {
    expect(decide([arm('a', 1, 0.9, 0, 'not allowed')], SETTINGS, 0)).toBeUndefined();
    const decision = decide([arm('a', 1, 0.9, 0, 'not allowed'), arm('b', 2, 0.9)], SETTINGS, 0.999);
    expect(decision).toMatchObject({ model: 'b', propensity: 1, deterministic: true });
    expect(decision?.arms[0]).toMatchObject({ probability: 0, excluded: 'not allowed' });
  });

  it('refuses a prediction that is not a number', () => {
    expect(() => decide([arm('a', 1, Number.NaN)], SETTINGS, 0)).toThrow(/model a/);
    expect(() => decide([arm('a', Infinity, 0.5)], SETTINGS, 0)).toThrow(/model a/);
  });

  const candidates = fc.array(
    fc.record({
      cost: fc.integer({ min: 0, max: 1e9 }),
      mean: fc.double({ min: 0, max: 1, noNaN: true }),
      width: fc.double({ min: 0, max: 0.5, noNaN: true }),
      excluded: fc.boolean(),
    }),
    { minLength: 1, maxLength: 12 },
  );
  it('gives probabilities that sum to 1, none below the floor among those it may draw, and the logged one to what it drew', () => {
    fc.assert(
      fc.property(
        candidates,
        fc.double({ min: 0, max: 0.999999, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (arms, u, threshold) => {
          const given = arms.map(({ cost, mean, width, excluded }, i) =>
            arm(`m${i}`, cost, mean, width, excluded ? 'no' : undefined),
          );
          const decision = decide(given, { ...SETTINGS, threshold }, u);
          if (decision === undefined) return arms.every(({ excluded }) => excluded);
          const drawn = decision.arms.find(({ model }) => model === decision.model);
          expect(decision.arms.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1, 12);
          expect(
            decision.arms
              .filter(({ probability }) => probability > 0)
              .every(({ probability }) => probability >= SETTINGS.floor - 1e-15),
          ).toBe(true);
          expect(drawn?.probability).toBe(decision.propensity);
          expect(drawn?.excluded).toBeUndefined();
          return true;
        },
      ),
    );
  });

  it('draws as often as it says (chi-square over 200,000 draws, p > .001)', () => {
    const counts = new Map<string, number>();
    let state = 12_345;
    const draws = 200_000;
    for (let i = 0; i < draws; i += 1) {
      // Numerical Recipes' quick generator; enough for four bins.
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      const model = decide(FOUR, SETTINGS, state / 2 ** 32)?.model as string;
      counts.set(model, (counts.get(model) ?? 0) + 1);
    }
    const expected = decide(FOUR, SETTINGS, 0)?.arms.filter(({ probability }) => probability > 0) ?? [];
    const chiSquare = expected.reduce(
      (sum, { model, probability }) =>
        sum + ((counts.get(model) ?? 0) - draws * probability) ** 2 / (draws * probability),
      0,
    );
    // 99.9th percentile with 2 degrees of freedom.
    expect(expected).toHaveLength(3);
    expect(chiSquare).toBeLessThan(13.816);
  });
});
