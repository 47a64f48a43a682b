import { DEFAULT_ROLLOUT, RolloutMonitor } from '../rollout/rollout-monitor.ts';
import type { RolloutStage } from '../rollout/stages.ts';
import { betaDraw, createRandom } from './random.ts';

export const BASELINE = 0.9;
/** Samples of a stage. */
export const STAGE_SAMPLES = 2_000;

export type WatchedStage = Exclude<RolloutStage, 'shadow' | 'rolled_back'>;

/** One sample of a canary's quality. */
export type Quality = (random: () => number) => number;

export const binary =
  (mean: number): Quality =>
  (random) =>
    random() < mean ? 1 : 0;
/** Graded scores, standard deviation .1. */
export const graded =
  (mean: number): Quality =>
  (random) =>
    betaDraw(random, mean, 0.1);

/** What became of one canary: after how many samples it was rolled back or promoted, if it was. */
export interface CanaryEnd {
  readonly end: 'rolled_back' | 'promoted' | 'watched';
  readonly after: number;
}

export type Watch = (seed: number, quality: Quality, samples: number) => CanaryEnd;

/** The monitor that is served, in one stage. */
export function eProcess(stage: WatchedStage): Watch {
  return (seed, quality, samples) => {
    const random = createRandom(seed);
    const monitor = new RolloutMonitor({ ...DEFAULT_ROLLOUT, policyVersion: 'v', baseline: BASELINE }, stage);
    for (let i = 1; i <= samples; i += 1) {
      const now = monitor.add({ decisionId: String(i), policyVersion: 'v', quality: quality(random) });
      if (now === 'rolled_back') return { end: 'rolled_back', after: i };
      if (now !== stage) return { end: 'promoted', after: i };
    }
    return { end: 'watched', after: samples };
  };
}

/**
 * What others do: a one-sided z-test at 5 % against the baseline, looked at after each sample from the thirtieth
 * on.
 */
export const peekingZTest: Watch = (seed, quality, samples) => {
  const random = createRandom(seed);
  let sum = 0;
  let squares = 0;
  for (let i = 1; i <= samples; i += 1) {
    const x = quality(random);
    sum += x;
    squares += x * x;
    const mean = sum / i;
    const deviation = Math.sqrt(Math.max(0, squares / i - mean * mean));
    if (i >= 30 && BASELINE - mean > (1.645 * deviation) / Math.sqrt(i)) return { end: 'rolled_back', after: i };
  }
  return { end: 'watched', after: samples };
};

/** What others do too: roll back when the mean of the last 200 is more than `margin` below the baseline. */
export function windowedRule(margin: number, window = 200): Watch {
  return (seed, quality, samples) => {
    const random = createRandom(seed);
    const last = new Float64Array(window);
    let sum = 0;
    for (let i = 1; i <= samples; i += 1) {
      const x = quality(random);
      sum += x - (last[i % window] as number);
      last[i % window] = x;
      if (i >= window && sum / window < BASELINE - margin) return { end: 'rolled_back', after: i };
    }
    return { end: 'watched', after: samples };
  };
}

export interface Characteristic {
  readonly rolledBack: number;
  readonly promoted: number;
  /** Of those that were rolled back; undefined when none was. */
  readonly medianSamples: number | undefined;
}

/** Shares of many simulated canaries. Each run has a seed of its own, the same for every rule. */
export function characteristic(
  watch: Watch,
  quality: Quality,
  { runs, samples = STAGE_SAMPLES }: { readonly runs: number; readonly samples?: number },
): Characteristic {
  const ends = Array.from({ length: runs }, (_, run) => watch(run + 1, quality, samples));
  const back = ends
    .filter(({ end }) => end === 'rolled_back')
    .map(({ after }) => after)
    .sort((a, b) => a - b);
  return {
    rolledBack: back.length / runs,
    promoted: ends.filter(({ end }) => end === 'promoted').length / runs,
    medianSamples: back[back.length >> 1],
  };
}
