import type { DriftAnswer } from '@sluice/contracts';
import { discoveries, kolmogorovSmirnov, populationStability } from '@sluice/routing';

/** Decisions of each of the two windows, and those that both need before a shift is spoken of. */
const WINDOW = 1_000;
export const NEEDED = 500;
const BINS = 10;
const FALSE_DISCOVERY_RATE = 0.05;
/** Population stability indices from which on a shift is moderate, and major. */
const MODERATE = 0.1;
const MAJOR = 0.25;

type Level = DriftAnswer['arm_mix']['level'];

/** Compares the newest decisions with the first ones of this process: features, and the mix of chosen models. */
export interface FeatureDrift {
  add(features: readonly number[], chosen: string): void;
  report(names: readonly string[]): Pick<DriftAnswer, 'window' | 'features' | 'arm_mix'>;
}

export function createFeatureDrift({ window = WINDOW, needed = NEEDED }: { window?: number; needed?: number } = {}): FeatureDrift {
  const reference: { features: readonly number[]; chosen: string }[] = [];
  const recent: typeof reference = [];
  let next = 0;

  function levelOf(psi: number): Level {
    if (reference.length < needed || recent.length < needed) return 'too_few';
    return psi < MODERATE ? 'stable' : psi < MAJOR ? 'moderate' : 'major';
  }

  function ofFeature(name: string, at: number) {
    const before = reference.map(({ features }) => features[at] as number);
    const now = recent.map(({ features }) => features[at] as number);
    const { distance, p } = now.length === 0 ? { distance: 0, p: 1 } : kolmogorovSmirnov(before, now);
    return { name, psi: now.length === 0 ? 0 : stabilityOf(before, now), ks_distance: distance, ks_p: p };
  }

  return {
    add: (features, chosen) => {
      const row = { features, chosen };
      if (reference.length < window) reference.push(row);
      else if (recent.length < window) recent.push(row);
      else {
        recent[next] = row;
        next = (next + 1) % window;
      }
    },
    report: (names) => {
      const measured = names.map(ofFeature);
      const found = discoveries(measured.map(({ ks_p }) => ks_p), FALSE_DISCOVERY_RATE);
      const models = [...new Set([...reference, ...recent].map(({ chosen }) => chosen))];
      const shares = (rows: typeof reference) => models.map((model) => rows.filter(({ chosen }) => chosen === model).length);
      const mix = recent.length === 0 ? 0 : populationStability(shares(reference), shares(recent));
      return {
        window: { reference: reference.length, recent: recent.length, needed },
        features: measured.map((one, i) => ({ ...one, discovery: found[i] === true && levelOf(one.psi) !== 'too_few', level: levelOf(one.psi) })),
        arm_mix: { psi: mix, level: levelOf(mix) },
      };
    },
  };
}

/** Stability index over deciles of the reference. */
function stabilityOf(reference: readonly number[], recent: readonly number[]): number {
  const sorted = [...reference].sort((a, b) => a - b);
  const edges = [...new Set(Array.from({ length: BINS - 1 }, (_, i) => sorted[Math.floor(((i + 1) * sorted.length) / BINS)] as number))];
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
