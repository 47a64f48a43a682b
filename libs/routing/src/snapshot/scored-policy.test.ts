import type { RouteDecision, RouterSnapshot, SnapshotPolicy } from '@sluice/contracts';
import { fitTextScorer } from '../features/text-scorer.ts';
import { compilePolicy, compileSnapshot, readSnapshot } from './compile-snapshot.ts';
import { decideFromSnapshot, type SnapshotRequest } from './decide-from-snapshot.ts';
import { DEFAULT_SETTINGS, untrainedSnapshot } from './default-policy.ts';
import { explainArms, explainDecision } from './explain-decision.ts';
import { targetProbabilities } from './target-probabilities.ts';
import { verifyDecision, verifyPredictions } from './verify-decision.ts';

const ID = '01JDZZZZZZZZZZZZZZZZZZZZZZ';
const HISTORY = [
  'who ruled the empire',
  'when was the treaty signed',
  'which parliament met before the revolution',
  'who fought the war',
];
const SUMS = ['integrate the polynomial', 'invert the matrix', 'prove the theorem', 'what is the sum of the series'];
/** The small model knows history alone; nobody has rated anything yet. */
const scorer = fitTextScorer(
  {
    models: ['small', 'large'],
    prompts: [...HISTORY, ...SUMS],
    qualities: [...HISTORY.map(() => [0.9, 0.9]), ...SUMS.map(() => [0.1, 0.9])],
  },
  { buckets: 1_024, penalty: 0.3 },
);
const untrained = untrainedSnapshot({
  snapshotId: ID,
  createdAt: '2026-06-01T00:00:00.000Z',
  models: [
    { id: 'small', tier: 1 },
    { id: 'large', tier: 1 },
    { id: 'unscored', tier: 0 },
  ],
});

function policy(
  settings: Partial<SnapshotPolicy['settings']> = {},
  own: typeof scorer | null = scorer,
  id = '0123456789abcdef',
): SnapshotPolicy {
  const features =
    own === null
      ? untrained.control.features
      : { ...untrained.control.features, scorer: { id, strength: 1_000, scorer: JSON.parse(JSON.stringify(own)) } };
  return {
    ...untrained.control,
    gamma: 60,
    settings: {
      ...DEFAULT_SETTINGS,
      rule: 'utility',
      cost_weight: 0.4,
      thresholds: { default: 0, features: {}, tenants: {} },
      ...settings,
    },
    features,
  };
}
const snapshot = (control = policy(), more: Partial<RouterSnapshot> = {}): RouterSnapshot => ({
  ...untrained,
  format: 2,
  control,
  ...more,
});

function decided(from: RouterSnapshot, prompt: string, more: Partial<SnapshotRequest> = {}): RouteDecision {
  const compiled = compileSnapshot(from);
  const result = decideFromSnapshot(compiled, {
    decisionId: ID,
    tenant: 'acme',
    features: compiled.extractor.extract(prompt),
    candidates: [
      { model: 'small', costNanoUsd: 100 },
      { model: 'large', costNanoUsd: 1_000 },
      { model: 'unscored', costNanoUsd: 1_000 },
    ],
    u: 0.5,
    variantDraw: 0.5,
    ...more,
  });
  if (result.status !== 'decided') throw new Error(JSON.stringify(result));
  return result.decision;
}

describe('a policy with a scorer', () => {
  it('stands on the model whose score for the prompt is worth its cost, where the same policy without one does not tell prompts apart', () => {
    const bases = (from: RouterSnapshot): string[] =>
      ['who signed the treaty of the empire', 'invert the theorem of the matrix'].map(
        (prompt) => decided(from, prompt).base,
      );
    expect(bases(snapshot())).toEqual(['small', 'large']);
    expect(bases(snapshot(policy({}, null)))).toEqual(['small', 'small']);
  });

  it('records what each score was, and shows it; a model that it does not know is left to its arm', () => {
    const record = decided(snapshot(), SUMS[0] as string);
    expect(record).toMatchObject({ extractor: 'text/1+0123456789abcdef', features: { length: 18 } });
    const [small, large, unscored] = explainArms(record);
    expect(small?.q_score).toBeCloseTo(small?.q_mean as number, 2);
    expect((large?.q_score as number) - (small?.q_score as number)).toBeGreaterThan(0.4);
    expect([unscored?.q_score, unscored?.q_mean]).toEqual([undefined, expect.closeTo(0.6, 12)]);
    expect(small?.q_width).toBeLessThan((unscored?.q_width as number) / 10);
  });

  it('leaves an arm of many rewards more to say than one of few', () => {
    const arms = untrained.control.arms.map((arm) => ({
      ...arm,
      theta: [0.7, ...arm.theta.slice(1).map(() => 0)],
      inverse: arm.inverse.map((row, i) => row.map((_, j) => (i === j ? 1e-7 : 0))),
    }));
    const known = decided(snapshot({ ...policy(), arms }), SUMS[0] as string);
    expect(known.arms[0]?.mean).toBeCloseTo(0.7, 2);
  });

  it('decides the same after its way over the wire, and every record gives probabilities and predictions again', () => {
    const from = snapshot(policy({ reference_cost: 500 }));
    const wired = readSnapshot(JSON.parse(JSON.stringify(from)));
    for (const prompt of [...HISTORY, ...SUMS]) {
      for (let u = 0; u < 1; u += 0.1) {
        const record = decided(from, prompt, { u });
        expect(decided(wired.snapshot, prompt, { u })).toEqual(record);
        expect(verifyDecision(JSON.parse(JSON.stringify(record)))).toEqual({ maxDifference: 0, matches: true });
        expect(verifyPredictions(JSON.parse(JSON.stringify(record)), wired)).toEqual({
          maxDifference: 0,
          matches: true,
        });
      }
    }
    const record = decided(from, SUMS[0] as string);
    expect(
      verifyPredictions(
        { ...record, features: record.features.map((value, i) => (i === 16 ? value + 0.1 : value)) },
        wired,
      )?.matches,
    ).toBe(false);
  });

  it('can be rolled out from a policy without one: the record has its scores, so what it would have done is known', () => {
    const both = snapshot(policy({}, null), {
      candidate: { rollout_id: ID, stage: 'canary_5', weight: 0.05, policy: { ...policy(), version: 'v2' } },
    });
    const control = decided(both, SUMS[1] as string);
    expect([control.policy_version, control.base, control.arms[0]?.score]).toEqual(['v1', 'small', undefined]);
    const candidate = decided(both, SUMS[1] as string, { variantDraw: 0 });
    expect([candidate.policy_version, candidate.base]).toEqual(['v2', 'large']);
    const quiet = { difficulty: 0, pressure: 0, budgetUsed: 0 };
    expect(targetProbabilities(compilePolicy({ ...policy(), version: 'v2' }), control, 'acme', quiet)).toEqual(
      candidate.arms.map(({ probability }) => probability),
    );
    expect(targetProbabilities(compilePolicy(policy({}, null)), candidate, 'acme', quiet)).toEqual(
      control.arms.map(({ probability }) => probability),
    );
    const without = decided(snapshot(policy({}, null)), SUMS[1] as string);
    expect(() => targetProbabilities(compilePolicy(policy()), without, 'acme', quiet)).toThrow(
      "the decision has the features 'text/1', the policy looks at 'text/1+0123456789abcdef'",
    );
  });
});

describe('a scorer that cannot be used is refused', () => {
  const broken = (change: object) => snapshot(policy({}, { ...scorer, ...change } as typeof scorer));
  it.each([
    ['too few coefficients', broken({ grams: 'AAAA' }), /grams: has 3 bytes; 2 models and 1024 buckets need 4096/],
    ['a text that is no base64', broken({ grams: '!' }), /must be base64/],
    ['buckets that are no power of two', broken({ buckets: 1_000 }), /must be a power of two, not 1000/],
    ['more buckets than a snapshot may carry', broken({ buckets: 65_536 }), /buckets/],
    ['a model too many', broken({ models: ['small', 'large', 'huge'] }), /offset: has 2 numbers; 3 models/],
    [
      'another number of features',
      broken({ scale: { mean: [1], sd: [1] }, features: [1, 2, 3, 4] }),
      /fitted on 1 features, there are 16/,
    ],
  ])('with %s', (_what, value, message) => {
    expect(() => readSnapshot(JSON.parse(JSON.stringify(value)))).toThrow(message);
  });

  it('beside another one in the same snapshot', () => {
    const other = { ...policy({}, scorer, 'fedcba9876543210'), version: 'v2' };
    expect(() =>
      compileSnapshot(snapshot(policy(), { candidate: { rollout_id: ID, stage: 'shadow', weight: 0, policy: other } })),
    ).toThrow('different scorers');
  });
});

describe('a reference cost', () => {
  const dear = {
    candidates: [
      { model: 'small', costNanoUsd: 1_000 },
      { model: 'large', costNanoUsd: 10_000 },
    ],
  };
  const cheap = {
    candidates: [
      { model: 'small', costNanoUsd: 100 },
      { model: 'large', costNanoUsd: 1_000 },
    ],
  };
  const fixed = snapshot(policy({ reference_cost: 5_000, cost_weight: 0.6 }));

  it('saves more on a dear request than on a cheap one, and the explanation weighs as the decision did', () => {
    const prompt = SUMS[1] as string;
    expect([decided(fixed, prompt, cheap).base, decided(fixed, prompt, dear).base]).toEqual(['large', 'small']);
    const relative = snapshot(policy({ cost_weight: 0.6 }));
    expect(decided(relative, prompt, cheap).base).toBe(decided(relative, prompt, dear).base);
    const record = decided(fixed, prompt, dear);
    expect(record.reference_cost).toBe(5_000);
    expect(explainArms(record)[1]?.utility).toBeCloseTo((record.arms[1]?.mean as number) - (0.6 * 10_000) / 5_000, 12);
    expect(explainDecision(record).reason).toContain('best quality for its cost');
    expect(verifyDecision({ ...record, reference_cost: 4_000 }).matches).toBe(false);
  });

  it('stands aside where latency is part of the price, which has no unit then', () => {
    const arms = untrained.control.arms.map((arm, i) => ({ ...arm, mean_latency_ms: 100 * (i + 1) }));
    const record = decided(
      { ...fixed, control: { ...fixed.control, arms }, tenants: { acme: { difficulty: 0, pressure: 1 } } },
      SUMS[1] as string,
    );
    expect([record.latency_share, record.reference_cost]).toEqual([0.5, undefined]);
    expect(verifyDecision(record).matches).toBe(true);
  });
});
