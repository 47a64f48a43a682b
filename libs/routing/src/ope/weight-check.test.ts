import { inverseGapWeights, sampleArm, withFloor } from '../policy/exploration.ts';
import { betaDraw, createRandom } from '../testing/random.ts';
import { evaluatePolicy } from './evaluate.ts';
import type { LoggedData } from './logged-data.ts';

const ROWS = 5_000;
const FLOOR = 0.01;
const quality = ([a, b]: readonly number[]): number[] => [
  0.6 + 0.1 * (a as number),
  0.7 - 0.05 * (b as number),
  0.75 + 0.08 * (a as number) * (b as number),
  0.8 - 0.1 * (a as number),
];
const served = (x: readonly number[]): number[] => withFloor(inverseGapWeights(quality(x), 400), FLOOR);
const healthy = (p: readonly number[], down: number): number[] => {
  const left = p.map((value, arm) => (arm === down ? 0 : value));
  const sum = left.reduce((total, value) => total + value, 0);
  return left.map((value) => value / sum);
};

interface Row {
  readonly x: readonly number[];
  readonly row: number;
}

/**
 * A log whose rows were drawn from `drawn` and written down as `logged`; the target is a policy of less
 * exploration.
 */
function evaluate(drawn: (row: Row) => number[], logged: (row: Row, action: number) => number[]) {
  const random = createRandom(9);
  const data = {
    contexts: [] as number[][],
    loggedProbabilities: [] as number[][],
    actions: [] as number[],
    rewards: [] as number[],
  };
  const target: number[][] = [];
  for (let row = 0; row < ROWS; row += 1) {
    const x = [2 * random() - 1, 2 * random() - 1];
    const action = sampleArm(drawn({ x, row }), random());
    data.contexts.push(x);
    data.loggedProbabilities.push(logged({ x, row }, action));
    data.actions.push(action);
    data.rewards.push(betaDraw(random, quality(x)[action] as number, 0.06));
    target.push(withFloor(inverseGapWeights(quality(x), 200), FLOOR));
  }
  return evaluatePolicy(data satisfies LoggedData, target);
}

describe('the check of the weights', () => {
  it('says nothing of a log that was written as it was drawn', () => {
    expect(
      evaluate(
        ({ x }) => served(x),
        ({ x }) => served(x),
      ).status,
    ).toBe('estimated');
    // With a model that is down from time to time, removed before the draw and before the log.
    const filtered = ({ x, row }: Row): number[] => (row % 4 === 0 ? healthy(served(x), 0) : served(x));
    const evaluation = evaluate(filtered, filtered);
    expect(JSON.stringify(evaluation)).not.toContain('probabilities are wrong');
  });

  const wrong: [string, (row: Row) => number[], (row: Row, action: number) => number[]][] = [
    [
      'probabilities of a stale snapshot',
      ({ x }) => served(x),
      ({ x }) => withFloor(inverseGapWeights(quality(x), 10), FLOOR),
    ],
    [
      'the probability of another arm than the chosen one',
      ({ x }) => served(x),
      ({ x }, action) => {
        const p = served(x);
        const base = p.indexOf(Math.max(...p));
        const swapped = [...p];
        [swapped[action], swapped[base]] = [p[base] as number, p[action] as number];
        return swapped;
      },
    ],
    ['probabilities without the floor', ({ x }) => served(x), ({ x }) => inverseGapWeights(quality(x), 400)],
    [
      'probabilities from before the unhealthy models were taken out and the rest renormalised',
      ({ x, row }) => (row % 4 === 0 ? healthy(served(x), 3) : served(x)),
      ({ x }) => served(x),
    ],
  ];
  it.each(wrong)('finds %s', (_what, drawn, logged) => {
    const evaluation = evaluate(drawn, logged);
    expect(evaluation.status).toBe('insufficient');
    expect(JSON.stringify(evaluation)).toContain('the logged probabilities are wrong');
  });
});

it('a value that rests on a handful of rewards is refused, however many rows there are', () => {
  const random = createRandom(4);
  const rows = 10_000;
  const contexts = Array.from({ length: rows }, () => [random()]);
  const even = contexts.map(() => [0.5, 0.5]);
  const actions = contexts.map(() => (random() < 0.5 ? 0 : 1));
  const rare = evaluatePolicy(
    { contexts, loggedProbabilities: even, actions, rewards: contexts.map((_, i) => (i % 500 === 0 ? 1 : 0)) },
    even,
  );
  expect(rare).toMatchObject({
    status: 'insufficient',
    reasons: ['the value rests on 20.0 effective rewards, less than 30'],
  });
  const enough = evaluatePolicy(
    { contexts, loggedProbabilities: even, actions, rewards: contexts.map((_, i) => (i % 200 === 0 ? 1 : 0)) },
    even,
  );
  expect(enough.status).toBe('estimated');
});
