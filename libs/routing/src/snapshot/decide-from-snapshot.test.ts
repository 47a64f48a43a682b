import { RouteDecision, type RouterSnapshot, type SnapshotPolicy } from '@sluice/contracts';
import { createRandom } from '../testing/random.ts';
import { RidgeArm } from '../linear/ridge-arm.ts';
import { standardise, textFeatures } from '../features/text-features.ts';
import { compileSnapshot, readSnapshot, SnapshotError } from './compile-snapshot.ts';
import { decideFromSnapshot, type SnapshotRequest } from './decide-from-snapshot.ts';
import { DEFAULT_FEATURES, DEFAULT_SETTINGS, untrainedSnapshot } from './default-policy.ts';
import { explainArms, explainDecision } from './explain-decision.ts';
import { fixedDecision } from './fixed-decision.ts';
import { loggedSignals, targetProbabilities } from './target-probabilities.ts';
import { verifyDecision, verifyPredictions } from './verify-decision.ts';

const ID = '01JDZZZZZZZZZZZZZZZZZZZZZZ';
const MODELS = [
  { id: 'small', tier: 0, cost: 200, quality: 0.7, latency: 120 },
  { id: 'medium', tier: 1, cost: 1_000, quality: 0.82, latency: 300 },
  { id: 'large', tier: 2, cost: 4_000, quality: 0.9, latency: 600 },
];
const text = textFeatures('Explain step by step why 17 is prime.\nThen list 3 more primes.');

/** Arms that learned `rows` rewards about their quality. */
function trained(version: string, rows = 3_000, shift = 0): SnapshotPolicy {
  const random = createRandom(7);
  const arms = MODELS.map(({ id, quality, latency }) => {
    const arm = RidgeArm.withPrior([0.6, ...DEFAULT_FEATURES.names.map(() => 0)], 10);
    for (let i = 0; i < rows; i += 1)
      arm.update([1, ...DEFAULT_FEATURES.names.map(() => 2 * random() - 1)], quality + shift + 0.05 * (random() - 0.5));
    return { model: id, theta: [...arm.theta], inverse: arm.state.aInverse, n: rows, mean_latency_ms: latency };
  });
  return {
    version,
    settings: DEFAULT_SETTINGS,
    features: DEFAULT_FEATURES,
    gamma: 60,
    arms,
    unseen: { theta: [0.6, ...DEFAULT_FEATURES.names.map(() => 0)], strength: 10 },
  };
}
const SNAPSHOT: RouterSnapshot = {
  ...untrainedSnapshot({ snapshotId: ID, createdAt: '2026-06-01T00:00:00.000Z', models: MODELS }),
  control: trained('v1'),
  tenants: { hard: { difficulty: 1, pressure: 0 }, flooded: { difficulty: 0, pressure: 1 } },
};
const request = (more: Partial<SnapshotRequest> = {}): SnapshotRequest => ({
  decisionId: ID,
  tenant: 'acme',
  features: text,
  candidates: MODELS.map(({ id, cost }) => ({ model: id, costNanoUsd: cost })),
  u: 0.3,
  variantDraw: 0.5,
  ...more,
});
const compiled = compileSnapshot(SNAPSHOT);
function decided(more: Partial<SnapshotRequest> = {}, from = compiled): RouteDecision {
  const result = decideFromSnapshot(from, request(more));
  if (result.status !== 'decided') throw new Error(JSON.stringify(result));
  return result.decision;
}
const withSettings = (settings: Partial<SnapshotPolicy['settings']>) =>
  compileSnapshot({ ...SNAPSHOT, control: { ...SNAPSHOT.control, settings: { ...DEFAULT_SETTINGS, ...settings } } });

describe('a decision from a published snapshot', () => {
  it('is the same before and after the snapshot went over the wire, and valid as a record', () => {
    const wired = readSnapshot(JSON.parse(JSON.stringify(SNAPSHOT)));
    for (let u = 0; u < 1; u += 0.05) expect(decided({ u }, wired)).toEqual(decided({ u }));
    expect(RouteDecision.parse(JSON.parse(JSON.stringify(decided())))).toEqual(decided());
  });

  it('predicts to the last bit what the learned arm itself does', () => {
    const arm = RidgeArm.restore({
      a: [],
      aInverse: SNAPSHOT.control.arms[2]?.inverse as number[][],
      b: [],
      pulls: 0,
      sinceRefactor: 0,
    });
    const x = standardise(text, DEFAULT_FEATURES);
    expect(decided().arms[2]?.width).toBe(arm.predict(x).width);
  });

  it('stands on the cheapest model that is proven good enough', () => {
    expect(decided({ u: 0.4 })).toMatchObject({
      base: 'medium',
      fallback: false,
      threshold: { value: 0.75 },
      evaluated: true,
    });
    expect(explainDecision(decided({ u: 0.4 }))).toMatchObject({
      decidedBy: 'quality',
      reason: expect.stringMatching(/^medium: it is the cheapest of 2 models proven good enough/),
    });
  });

  it('asks more of hard traffic, less under pressure and near the end of a budget, and says what moved it', () => {
    expect(decided({ tenant: 'hard' }).base).toBe('large');
    expect(decided({ tenant: 'hard' }).threshold).toMatchObject({
      value: expect.closeTo(0.85, 12),
      base: 0.75,
      difficulty: 0.1,
    });
    const broke = decided({ budgetUsed: 1, u: 0.1 });
    expect([broke.base, broke.threshold.budget]).toEqual(['small', -0.25]);
    expect(explainDecision(broke)).toMatchObject({
      decidedBy: 'budget',
      reason: expect.stringContaining('lowered by 0.25 near the end of the budget'),
    });
    const flooded = decided({ tenant: 'flooded', u: 0.1 }, withSettings({ pressure_weight: 0.2 }));
    expect([flooded.base, flooded.latency_share]).toEqual(['small', 0.5]);
    expect(explainDecision(flooded).decidedBy).toBe('pressure');
  });

  it("takes the threshold of tenant and feature class before the tenant's, the class's and the default, and a caller's own before all", () => {
    const from = withSettings({
      thresholds: {
        default: 0.5,
        features: { chat: 0.6 },
        tenants: { acme: { default: 0.7, features: { chat: 0.8 } } },
      },
    });
    const value = (more: Partial<SnapshotRequest>) => decided(more, from).threshold.base;
    expect([
      value({ featureClass: 'chat' }),
      value({ featureClass: 'other' }),
      value({ tenant: 'x', featureClass: 'chat' }),
      value({ tenant: 'x' }),
      value({ tenant: 'hard', minQuality: 0.33 }),
    ]).toEqual([0.8, 0.7, 0.6, 0.5, 0.33]);
    expect(decided({ tenant: '__proto__', featureClass: 'constructor' }, from).threshold.base).toBe(0.5);
  });

  it('never draws what is excluded, too dear or too slow, and says why of each when nothing is left', () => {
    const candidates = [
      { model: 'small', costNanoUsd: 200, excluded: 'not allowed' },
      { model: 'medium', costNanoUsd: 1_000 },
      { model: 'large', costNanoUsd: 4_000 },
    ];
    expect(decideFromSnapshot(compiled, request({ candidates, maxCostNanoUsd: 2_000, maxLatencyMs: 200 }))).toEqual({
      status: 'none_eligible',
      excluded: [
        { model: 'small', reason: 'not allowed' },
        { model: 'medium', reason: 'it takes 300 ms on average, more than 200' },
        { model: 'large', reason: 'it would cost about 4000 nanodollars, more than 2000' },
      ],
    });
    expect(decided({ candidates, maxCostNanoUsd: 2_000 })).toMatchObject({
      chosen: 'medium',
      propensity: 1,
      deterministic: 'single_candidate',
      evaluated: false,
    });
  });

  it.each([
    ['NaN', [...text.slice(0, 15), Number.NaN], /log_options is NaN/],
    ['infinite', [Number.POSITIVE_INFINITY, ...text.slice(1)], /log_chars is Infinity/],
    ['missing', text.slice(0, 3), /there are 3 features; the policy looks at 16/],
  ])('is refused for %s features, by name', (_what, features, message) => {
    expect(decideFromSnapshot(compiled, request({ features }))).toEqual({
      status: 'bad_features',
      message: expect.stringMatching(message),
    });
  });

  it('gives a new model the prior, so that it is explored', () => {
    const record = decided({ candidates: [...request().candidates, { model: 'brand-new', costNanoUsd: 500 }] });
    expect(record.arms[3]).toMatchObject({ model: 'brand-new', mean: 0.6 });
    expect(record.arms[3]?.probability).toBeGreaterThan(0.004);
  });

  it('leaves the candidate of a rollout its share and not more', () => {
    const rollout = compileSnapshot({
      ...SNAPSHOT,
      candidate: { rollout_id: ID, stage: 'canary_5', weight: 0.05, policy: trained('v2', 100) },
    });
    expect(decided({ variantDraw: 0.049 }, rollout)).toMatchObject({
      policy_version: 'v2',
      rollout: { variant: 'candidate', stage: 'canary_5' },
    });
    expect(decided({ variantDraw: 0.051 }, rollout)).toMatchObject({
      policy_version: 'v1',
      rollout: { variant: 'control', weight: 0.05 },
    });
  });
});

describe('a snapshot that cannot be read', () => {
  it.each([
    ['a newer format', { ...SNAPSHOT, format: 3 }, /format 3; this version reads up to 2/],
    ['something else', { hello: 1 }, /not a router snapshot/],
    ['a number that JSON cannot hold', { ...SNAPSHOT, control: { ...SNAPSHOT.control, gamma: null } }, /control.gamma/],
    [
      'unknown features',
      { ...SNAPSHOT, control: { ...SNAPSHOT.control, features: { ...DEFAULT_FEATURES, extractor: 'text/9' } } },
      /'text\/9' are not known/,
    ],
    [
      'an arm of another dimension',
      { ...SNAPSHOT, control: { ...SNAPSHOT.control, arms: [{ model: 'x', theta: [1], inverse: [[1]], n: 0 }] } },
      /arm of x does not have 17/,
    ],
  ])('is an error for %s', (_what, value, message) => {
    expect(() => readSnapshot(value)).toThrow(SnapshotError);
    expect(() => readSnapshot(value)).toThrow(message);
  });
});

describe('a logged decision', () => {
  it('gives the same probabilities again from its record, and the same predictions with its snapshot', () => {
    for (const tenant of ['acme', 'hard', 'flooded']) {
      for (let u = 0; u < 1; u += 0.01) {
        const record = JSON.parse(JSON.stringify(decided({ u, tenant }))) as RouteDecision;
        expect(verifyDecision(record)).toEqual({ maxDifference: 0, matches: true });
        expect(verifyPredictions(record, compiled)).toEqual({ maxDifference: 0, matches: true });
      }
    }
  });

  it('is found out when a probability, the choice or a feature was changed', () => {
    const record = decided({ u: 0.4 });
    expect(verifyDecision({ ...record, propensity: record.propensity + 1e-9 }).matches).toBe(false);
    expect(verifyDecision({ ...record, chosen: 'large' }).matches).toBe(false);
    expect(verifyDecision({ ...record, gamma: record.gamma + 1 }).matches).toBe(false);
    expect(
      verifyPredictions(
        { ...record, features: record.features.map((value, i) => (i === 0 ? value + 0.1 : value)) },
        compiled,
      )?.matches,
    ).toBe(false);
  });

  it('that nobody drew has propensity 1, is marked and not evaluated', () => {
    const pinned = fixedDecision({ decisionId: ID, model: 'large', costNanoUsd: 4_000, reason: 'pin' });
    expect(RouteDecision.parse(pinned)).toMatchObject({ propensity: 1, deterministic: 'pin', evaluated: false });
    expect(verifyDecision(pinned).matches).toBe(true);
    expect(explainDecision(pinned).reason).toBe('large: the caller named it.');
    expect(explainArms(pinned)).toEqual([{ model: 'large', cost_nanousd: 4_000, probability: 1, class: 'possible' }]);
  });

  it('is what its own policy would have done, by whatever signals it was made', () => {
    for (const more of [{}, { tenant: 'hard' }, { tenant: 'flooded' }, { budgetUsed: 0.9 }, { minQuality: 0.4 }]) {
      const record = decided(more);
      const again = targetProbabilities(
        compiled.control,
        record,
        more.tenant ?? 'acme',
        loggedSignals(record, DEFAULT_SETTINGS),
      );
      again.forEach((probability, i) => expect(probability).toBeCloseTo(record.arms[i]?.probability as number, 9));
    }
  });

  it('leaves a rejected arm the little that keeps it in the support', () => {
    const record = decided({ minQuality: 0.88, u: 0.9999 });
    expect(record.arms.map(({ probability }) => probability)).toEqual([
      0.002,
      expect.closeTo(0.499, 9),
      expect.closeTo(0.499, 9),
    ]);
    expect(record).toMatchObject({ chosen: 'small', propensity: 0.002, evaluated: true });
  });

  it('shows each arm with bounds and class', () => {
    expect(explainArms(decided({ u: 0.4 })).map((arm) => arm.class)).toEqual(['possible', 'proven', 'proven']);
  });
});
