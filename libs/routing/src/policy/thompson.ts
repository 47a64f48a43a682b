import { normalCdf, normalDensity } from './normal.ts';

/** Beyond this many standard deviations nothing is left to integrate. */
const REACH = 9;
/** Even number of intervals of Simpson's rule. */
const INTERVALS = 600;

/** Exact probability that the first of two independent normal draws is the larger: Φ((m₀-m₁)/√(s₀²+s₁²)). */
export function thompsonTwoArms(mean: readonly [number, number], sd: readonly [number, number]): number {
  return normalCdf((mean[0] - mean[1]) / Math.hypot(sd[0], sd[1]));
}

/**
 * Probability of each arm to have the largest of independent normal draws (linear Thompson sampling, disjoint arms), by
 * Simpson's rule over pᵢ = ∫ N(z; mᵢ, sᵢ) ∏ Φ((z-mⱼ)/sⱼ) dz. Deterministic, unlike a Monte Carlo propensity.
 */
export function thompsonProbabilities(mean: readonly number[], sd: readonly number[]): number[] {
  return mean.map((own, arm) => {
    const spread = sd[arm] as number;
    const from = own - REACH * spread;
    const step = (2 * REACH * spread) / INTERVALS;
    let sum = 0;
    for (let i = 0; i <= INTERVALS; i += 1) {
      const z = from + i * step;
      let value = normalDensity(z, own, spread);
      for (let other = 0; other < mean.length; other += 1)
        if (other !== arm) value *= normalCdf((z - (mean[other] as number)) / (sd[other] as number));
      sum += value * (i === 0 || i === INTERVALS ? 1 : i % 2 === 1 ? 4 : 2);
    }
    return (sum * step) / 3;
  });
}
