import { DriftAnswer } from '@sluice/contracts';
import { createRandom } from '@sluice/routing/testing';
import { createLearnedArms } from '../state/learned-arms.ts';
import { decision } from '../testing/fixtures.ts';
import { startTestRouter } from '../testing/start-test-router.ts';
import { createFeatureDrift, type FeatureDrift } from './feature-drift.ts';

const NAMES = ['length', 'digits', 'score:small'];
const MODELS = ['small', 'medium', 'large'];
type Row = Parameters<FeatureDrift['add']>[0];

/** Draws of decisions; `more` may make each another than it was drawn. */
function stream(
  seed: number,
  probabilities = [0.6, 0.3, 0.1],
  more: (row: Row, random: () => number) => Partial<Row> = () => ({}),
): () => Row {
  const random = createRandom(seed);
  return () => {
    const u = random();
    const at =
      u < (probabilities[0] as number) ? 0 : u < (probabilities[0] as number) + (probabilities[1] as number) ? 1 : 2;
    const row: Row = {
      features: [random(), random()],
      chosen: MODELS[at] as string,
      arms: MODELS.map((model, k) => ({ model, cost_nanousd: 1, probability: probabilities[k] as number })),
      propensity: probabilities[at] as number,
      evaluated: true,
    };
    return { ...row, ...more(row, random) };
  };
}

function after(...parts: [count: number, next: () => Row][]): ReturnType<FeatureDrift['report']> {
  const drift = createFeatureDrift();
  for (const [count, next] of parts) for (let i = 0; i < count; i += 1) drift.add(next());
  return drift.report(NAMES);
}

describe('drift of decisions', () => {
  it('is not seen in a steady stream, whose weights average 1', () => {
    const report = after([2_000, stream(1)]);
    expect(report.features.slice(0, 2).map(({ level, discovery }) => [level, discovery])).toEqual([
      ['stable', false],
      ['stable', false],
    ]);
    expect([report.arm_mix.level, report.mean_weight]).toEqual([
      'stable',
      { n: 1_000, mean: expect.closeTo(1, 0), error: expect.any(Number), level: 'stable' },
    ]);
  });

  it('is found in the feature that moved, and in no other', () => {
    const report = after(
      [1_000, stream(1)],
      [1_000, stream(2, undefined, ({ features: [length = 0, digits = 0] }) => ({ features: [length + 0.4, digits] }))],
    );
    expect(report.features.slice(0, 2).map(({ level, discovery }) => [level, discovery])).toEqual([
      ['major', true],
      ['stable', false],
    ]);
  });

  it('is found in the mix of models', () => {
    expect(after([1_000, stream(1)], [1_000, stream(2, [0.2, 0.3, 0.5])]).arm_mix.level).toBe('major');
  });

  it('of the mean weight shows probabilities that are not those that were drawn by', () => {
    const report = after([2_000, stream(1, undefined, (_row, random) => ({ propensity: random() < 0.5 ? 0.9 : 0.6 }))]);
    expect(report.mean_weight).toMatchObject({ n: 1_000, level: 'off' });
  });

  it('leaves out decisions that were no draw, and says where too few are there', () => {
    expect(after([2_000, stream(1, undefined, () => ({ evaluated: false }))]).mean_weight).toMatchObject({
      n: 0,
      level: 'too_few',
    });
    expect(after([600, stream(1)])).toMatchObject({
      arm_mix: { level: 'too_few' },
      features: NAMES.map((name) => ({ name, level: 'too_few', discovery: false })),
    });
  });

  it('is not made up where the scores of a scorer begin or end', () => {
    const report = after(
      [1_000, stream(1)],
      [1_000, stream(2, undefined, ({ features }, random) => ({ features: [...features, random()] }))],
    );
    expect(report.features[2]).toEqual({
      name: 'score:small',
      psi: 0,
      ks_distance: 0,
      ks_p: 1,
      level: 'too_few',
      discovery: false,
    });
  });
});

describe("drift of a model's rewards", () => {
  const learn = (arms: ReturnType<typeof createLearnedArms>, from: number, count: number, reward: number): void => {
    for (let i = from; i < from + count; i += 1)
      arms.learn({
        model: 'small',
        tenant: 'acme',
        features: decision(i).features,
        reward: reward + 0.05 * ((i % 3) - 1),
        predicted: 0.8,
        atMs: i,
      });
  };

  it('cuts the window of the newest, whose calibration is then the new one, and goes on the same after a restart', () => {
    const arms = createLearnedArms();
    learn(arms, 1, 1_024, 0.8);
    expect(arms.summaries()[0]?.recent).toMatchObject({ n: 1_024, mean: expect.closeTo(0, 3), cuts: 0 });
    const again = createLearnedArms(JSON.parse(JSON.stringify(arms.state)));
    for (const one of [arms, again]) learn(one, 1_025, 320, 0.6);
    const [summary] = arms.summaries();
    expect(summary?.recent.cuts).toBeGreaterThan(0);
    expect(summary?.recent.mean).toBeCloseTo(-0.2, 1);
    expect(summary?.calibration).toBeGreaterThan(-0.1);
    expect(JSON.stringify(again.state)).toBe(JSON.stringify(arms.state));
  });

  it('begins anew with what was saved before there was a window', () => {
    const arms = createLearnedArms();
    learn(arms, 1, 50, 0.8);
    const old = arms.state.map(({ window: _window, cuts: _cuts, ...rest }) => rest);
    expect(createLearnedArms(old).summaries()[0]?.recent).toMatchObject({ n: 0, mean: 0, cuts: 0, cutAtMs: undefined });
  });

  it('is shown by GET /drift', async () => {
    const test = await startTestRouter();
    await test.router.loaded;
    await test.router.tick();
    const { body } = await test.call('POST', '/route', {
      workspace: 'acme-prod',
      messages: [{ role: 'user', content: 'Hello' }],
    });
    await test.call('POST', '/feedback', { decision_id: body['decision_id'], value: 1 });
    const answer = DriftAnswer.parse((await test.call('GET', '/drift')).body);
    expect(answer.mean_weight?.n).toBe(1);
    expect(answer.rewards.find(({ n }) => n === 1)?.recent).toMatchObject({ n: 1, cuts: 0 });
    await test.close();
  });
});
