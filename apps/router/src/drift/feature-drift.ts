import type { DriftAnswer, RouteDecision } from '@sluice/contracts';
import { discoveries, kolmogorovSmirnov, populationStability } from '@sluice/routing';

/** Decisions of each of the two windows, and those that both need before a shift is spoken of. */
const WINDOW = 1_000;
export const NEEDED = 500;
const BINS = 10;
const FALSE_DISCOVERY_RATE = 0.05;
/** Population stability indices from which on a shift is moderate, and major. */
const MODERATE = 0.1;
const MAJOR = 0.25;
/** Standard errors from which on a mean weight is not 1. */
const OFF = 4;

type Level = DriftAnswer['arm_mix']['level'];

/**
 * Compares the newest decisions with the first ones since the start, or since the last shift that was reacted to:
 * features, the mix of chosen models; and whether the newest were drawn as they say.
 */
export interface FeatureDrift {
  add(decision: Pick<RouteDecision, 'features' | 'chosen' | 'arms' | 'propensity' | 'evaluated'>): void;
  /** Decisions since the start. */
  readonly seen: number;
  /** From now on the newest decisions are what later ones are compared with. */
  rebase(): void;
  report(names: readonly string[]): Pick<DriftAnswer, 'window' | 'features' | 'arm_mix' | 'mean_weight'>;
}

export function createFeatureDrift({
  window = WINDOW,
  needed = NEEDED,
}: { window?: number; needed?: number } = {}): FeatureDrift {
  const reference: { features: readonly number[]; chosen: string; weight: number | undefined }[] = [];
  const recent: typeof reference = [];
  let next = 0;
  let seen = 0;

  function levelOf(psi: number, before = reference.length, now = recent.length): Level {
    if (before < needed || now < needed) return 'too_few';
    return psi < MODERATE ? 'stable' : psi < MAJOR ? 'moderate' : 'major';
  }

  function ofFeature(name: string, at: number) {
    // Scores come and go with the policy that has a scorer.
    const valuesOf = (rows: typeof reference): number[] => rows.flatMap(({ features }) => features[at] ?? []);
    const [before, now] = [valuesOf(reference), valuesOf(recent)];
    if (before.length === 0 || now.length === 0)
      return { name, psi: 0, ks_distance: 0, ks_p: 1, level: 'too_few' as const };
    const { distance, p } = kolmogorovSmirnov(before, now);
    const psi = stabilityOf(before, now);
    return { name, psi, ks_distance: distance, ks_p: p, level: levelOf(psi, before.length, now.length) };
  }

  function meanWeight(): NonNullable<DriftAnswer['mean_weight']> {
    const weights = (recent.length === 0 ? reference : recent).flatMap(({ weight }) => weight ?? []);
    const n = weights.length;
    if (n === 0) return { n, mean: 1, error: 0, level: 'too_few' };
    const mean = weights.reduce((sum, weight) => sum + weight, 0) / n;
    const error = Math.sqrt(weights.reduce((sum, weight) => sum + (weight - mean) ** 2, 0)) / n;
    return { n, mean, error, level: n < needed ? 'too_few' : Math.abs(mean - 1) > OFF * error ? 'off' : 'stable' };
  }

  return {
    add: ({ features, chosen, arms, propensity, evaluated }) => {
      const row = {
        features,
        chosen,
        weight: evaluated ? 1 / (arms.filter(({ probability }) => probability > 0).length * propensity) : undefined,
      };
      seen += 1;
      if (reference.length < window) reference.push(row);
      else if (recent.length < window) recent.push(row);
      else {
        recent[next] = row;
        next = (next + 1) % window;
      }
    },
    get seen() {
      return seen;
    },
    rebase: () => {
      if (recent.length < needed) return;
      reference.splice(0, reference.length, ...recent.splice(0));
      next = 0;
    },
    report: (names) => {
      const measured = names.map(ofFeature);
      const found = discoveries(
        measured.map(({ ks_p }) => ks_p),
        FALSE_DISCOVERY_RATE,
      );
      const models = [...new Set([...reference, ...recent].map(({ chosen }) => chosen))];
      const shares = (rows: typeof reference) =>
        models.map((model) => rows.filter(({ chosen }) => chosen === model).length);
      const mix = recent.length === 0 ? 0 : populationStability(shares(reference), shares(recent));
      return {
        window: { reference: reference.length, recent: recent.length, needed },
        features: measured.map((one, i) => ({ ...one, discovery: found[i] === true && one.level !== 'too_few' })),
        arm_mix: { psi: mix, level: levelOf(mix) },
        mean_weight: meanWeight(),
      };
    },
  };
}

/** Stability index over deciles of the reference. */
function stabilityOf(reference: readonly number[], recent: readonly number[]): number {
  const sorted = [...reference].sort((a, b) => a - b);
  const edges = [
    ...new Set(
      Array.from({ length: BINS - 1 }, (_, i) => sorted[Math.floor(((i + 1) * sorted.length) / BINS)] as number),
    ),
  ];
  const count = (values: readonly number[]): number[] => {
    const counts = new Array<number>(edges.length + 1).fill(0);
    for (const value of values) {
      const bin = edges.findIndex((edge) => value < edge);
      const at = bin < 0 ? edges.length : bin;
      counts[at] = (counts[at] as number) + 1;
    }
    return counts;
  };
  return populationStability(count(reference), count(recent));
}
