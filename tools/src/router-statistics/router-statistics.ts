import { decide, evaluatePolicy, RidgeArm, sampleArm, type Decision } from '@sluice/routing';
import {
  BASELINE,
  binary,
  characteristic,
  createRandom,
  createRoutingSimulator,
  eProcess,
  graded,
  normalDraw,
  peekingZTest,
  simulateLog,
  STAGE_SAMPLES,
  windowedRule,
  type Characteristic,
  type Quality,
  type Watch,
  type WatchedStage,
} from '@sluice/routing/testing';
import { evaluateClicks, TO_BE_REFUSED } from './logged-clicks.ts';

/** What was measured, in words, and what did not hold. */
export interface Statistics {
  readonly lines: readonly string[];
  readonly faults: readonly string[];
}

const SETTINGS = { alpha: 1, threshold: 0.78, gamma: 60, floor: 0.01, costWeight: 0.2 } as const;
const ARMS = [
  ['nano', 200, 0.7, 0.02],
  ['mini', 1_000, 0.8, 0.03],
  ['coder', 2_000, 0.79, 0.01],
  ['pro', 4_000, 0.88, 0.02],
  ['max', 10_000, 0.9, 0.05],
] as const;
/** 99.9th percentiles of chi-square by degrees of freedom. */
const CHI_SQUARE_999: Readonly<Record<number, number>> = { 1: 10.828, 2: 13.816, 3: 16.266, 4: 18.467 };

const decideAt = (u: number): Decision =>
  decide(
    ARMS.map(([model, costNanoUsd, mean, width]) => ({ model, costNanoUsd, prediction: { mean, width } })),
    SETTINGS,
    u,
  ) as Decision;

/** Draws against logged probabilities, and weights that average 1. */
export function propensities(draws: number, logs: number): Statistics {
  const random = createRandom(17);
  const counts = new Map<string, number>();
  let differing = 0;
  for (let i = 0; i < draws; i += 1) {
    const { model, propensity, arms } = decideAt(random());
    counts.set(model, (counts.get(model) ?? 0) + 1);
    if (arms.find((arm) => arm.model === model)?.probability !== propensity) differing += 1;
  }
  const possible = decideAt(0).arms.filter(({ probability }) => probability > 0);
  const chiSquare = possible.reduce(
    (sum, { model, probability }) =>
      sum + ((counts.get(model) ?? 0) - draws * probability) ** 2 / (draws * probability),
    0,
  );
  const bound = CHI_SQUARE_999[possible.length - 1] as number;
  const { data, target } = simulateLog(createRoutingSimulator(5), logs, 5);
  const evaluation = evaluatePolicy(data, target);
  const { meanWeight, meanWeightError } = evaluation.diagnostics;
  const z = (meanWeight - 1) / meanWeightError;
  return {
    lines: [
      `${draws} draws at one context, ${possible.length} arms: chi-square ${chiSquare.toFixed(2)}, p > .001 below ${bound}; ${differing} logged otherwise than drawn`,
      `${logs} logs: mean weight ${meanWeight.toFixed(5)}, ${z.toFixed(2)} standard errors from 1`,
    ],
    faults: [
      ...(chiSquare < bound ? [] : [`the draws are not as logged (chi-square ${chiSquare.toFixed(1)})`]),
      ...(Math.abs(z) < 4 ? [] : [`the mean weight is ${meanWeight}`]),
      ...(differing === 0 ? [] : [`${differing} decisions logged another probability`]),
    ],
  };
}

/** Estimates against the exact truth, 10 seeds. */
export function estimators(rows: number): Statistics {
  const names = ['ips', 'snips', 'dm', 'dr'] as const;
  const errors = Array.from({ length: 10 }, (_, i) => {
    const { data, target, truth } = simulateLog(createRoutingSimulator(i + 1), rows, i + 101);
    const evaluation = evaluatePolicy(data, target);
    if (evaluation.status === 'insufficient') throw new Error(evaluation.reasons.join('; '));
    return {
      ess: evaluation.diagnostics.ess,
      of: Object.fromEntries(names.map((name) => [name, evaluation.estimates[name] - truth])) as Record<
        (typeof names)[number],
        number
      >,
    };
  });
  const close = (name: (typeof names)[number]): number => errors.filter(({ of }) => Math.abs(of[name]) < 0.002).length;
  const rmse = (name: (typeof names)[number]): number =>
    Math.sqrt(errors.reduce((sum, { of }) => sum + of[name] ** 2, 0) / errors.length);
  return {
    lines: [
      `n ${rows}, graded Beta rewards (sd .1), ESS ${Math.round(Math.min(...errors.map(({ ess }) => ess)))} at least; within .002 of the truth on how many of 10 seeds (rmse): ${names.map((name) => `${name.toUpperCase()} ${close(name)} (${rmse(name).toFixed(4)})`).join(', ')}`,
    ],
    faults: (['snips', 'dr'] as const)
      .filter((name) => close(name) < 9)
      .map((name) => `${name} is within .002 on ${close(name)} seeds only`),
  };
}

/** What is refused of a real log; nothing where the folder has none. */
export function refusals(folder: string | undefined): Statistics {
  const clicks = folder === undefined ? undefined : evaluateClicks(folder);
  if (clicks === undefined)
    return { lines: ['no real log: SLUICE_ROUTER_DATA names no folder with obd_small.csv.gz'], faults: [] };
  return {
    lines: clicks.map(({ policy, rows, evaluation }) => {
      const { ess, effectiveRewards } = evaluation.diagnostics;
      const said =
        evaluation.status === 'insufficient'
          ? `refused: ${evaluation.reasons.join('; ')}`
          : `SNIPS ${evaluation.estimates.snips.toFixed(4)} [${evaluation.intervals.snips.lower.toFixed(4)}, ${evaluation.intervals.snips.upper.toFixed(4)}]`;
      return `uniform choice from the log of ${policy} (${rows} rows, clicks; ESS ${Math.round(ess)}, effective rewards ${effectiveRewards.toFixed(1)}): ${said}`;
    }),
    faults: clicks
      .filter(({ policy, evaluation }) => (evaluation.status === 'insufficient') !== TO_BE_REFUSED.includes(policy))
      .map(({ policy, evaluation }) => `${policy} is ${evaluation.status}`),
  };
}

/** Operating characteristics of a rollout, beside rules that do not count their looks. */
export function rollouts(healthyRuns: number, badRuns: number): Statistics {
  const lines: string[] = [];
  const faults: string[] = [];
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  const expect = (what: string, share: number, holds: boolean): void => {
    lines.push(`${what}: ${percent(share)}${holds ? '' : ' MISSED'}`);
    if (!holds) faults.push(`${what}: ${percent(share)}`);
  };
  for (const stage of ['canary_1', 'canary_5', 'canary_25', 'full'] satisfies WatchedStage[]) {
    const healthy = characteristic(eProcess(stage), binary(BASELINE), { runs: healthyRuns });
    expect(
      `${healthyRuns} healthy canaries, ${STAGE_SAMPLES} binary samples, rolled back in ${stage} (at most 5 %; ${percent(healthy.promoted)} promoted)`,
      healthy.rolledBack,
      healthy.rolledBack <= 0.05,
    );
  }
  const fallen = characteristic(eProcess('canary_1'), binary(0.75), { runs: badRuns, samples: 200 });
  expect(
    `${badRuns} canaries at .75 instead of .90, rolled back within 200 samples (at least 95 %; median ${fallen.medianSamples})`,
    fallen.rolledBack,
    fallen.rolledBack >= 0.95,
  );
  const boundary = characteristic(eProcess('canary_1'), binary(BASELINE - 0.03), { runs: healthyRuns });
  expect(
    `${healthyRuns} canaries at the null boundary .87, promoted (at most 5 %)`,
    boundary.promoted,
    boundary.promoted <= 0.05,
  );
  const compared: [string, Watch][] = [
    ['betting e-process', eProcess('canary_1')],
    ['z-test at each sample', peekingZTest],
    ['mean of the last 200 under -.03', windowedRule(0.03)],
    ['mean of the last 200 under -.07', windowedRule(0.07)],
  ];
  const cases: [string, Quality, number][] = [
    ['healthy .90, 2,000 samples', binary(0.9), STAGE_SAMPLES],
    ['.82 within 200', binary(0.82), 200],
    ['.75 within 200', binary(0.75), 200],
    ['graded .90 to .80 within 60', graded(0.8), 60],
  ];
  for (const [name, watch] of compared) {
    const told = cases.map(([what, quality, samples]): string => {
      const { rolledBack, medianSamples }: Characteristic = characteristic(watch, quality, { runs: badRuns, samples });
      return `${what} ${percent(rolledBack)}${medianSamples === undefined ? '' : ` (median ${medianSamples})`}`;
    });
    lines.push(`rolled back by ${name}: ${told.join(', ')}`);
  }
  return { lines, faults };
}

/** A million updates of one arm with correlated contexts. */
export function updates(count: number): Statistics {
  const random = createRandom(1);
  const contexts = Array.from({ length: 4_096 }, () => {
    const x = [1, ...Array.from({ length: 16 }, () => Math.max(-3, Math.min(3, normalDraw(random))))];
    x[16] = (x[15] as number) + 1e-3 * normalDraw(random);
    return x;
  });
  const arm = RidgeArm.untrained(17, 1);
  const before = process.cpuUsage();
  const startedAt = performance.now();
  let worst = 0;
  for (let i = 1; i <= count; i += 1) {
    arm.update(contexts[(i * 2_654_435_761) % 4_096] as number[], sampleArm([0.2, 0.8], random()));
    // Just before the inverse is made anew it is at its worst.
    if (i % 10_000 === 9_999) worst = Math.max(worst, arm.residual);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const used = process.cpuUsage(before);
  return {
    lines: [
      `${count} updates at d = 17, two features nearly the same: ${seconds.toFixed(1)} s (${((used.user + used.system) / 1e6).toFixed(1)} s CPU), residual at worst ${worst.toExponential(1)}, at the end ${arm.residual.toExponential(1)}`,
    ],
    faults: [
      ...(worst < 1e-6 ? [] : [`the residual is ${worst}`]),
      ...((used.user + used.system) / 1e6 < 30 ? [] : [`${count} updates took ${seconds.toFixed(0)} s`]),
    ],
  };
}
