/** Standard normal quantile of a two-sided 95 % interval. */
export const Z95 = 1.959963984540054;

/** Standard error of a mean (n - 1). */
export function standardError(terms: readonly number[]): number {
  const mean = terms.reduce((sum, term) => sum + term, 0) / terms.length;
  const squares = terms.reduce((sum, term) => sum + (term - mean) ** 2, 0);
  return Math.sqrt(squares / (terms.length - 1) / terms.length);
}

/** Standard error of SNIPS by its influence function. */
export function snipsErrorByInfluence(weights: readonly number[], rewards: readonly number[]): number {
  const snips = snipsOf(weights, rewards);
  const meanWeight = weights.reduce((sum, weight) => sum + weight, 0) / weights.length;
  const squares = weights.reduce(
    (sum, weight, i) => sum + ((weight * ((rewards[i] as number) - snips)) / meanWeight) ** 2,
    0,
  );
  return Math.sqrt(squares) / weights.length;
}

/** Standard error of SNIPS by leaving each row out (jackknife: Quenouille 1949, Tukey 1958). */
export function snipsErrorByJackknife(weights: readonly number[], rewards: readonly number[]): number {
  const n = weights.length;
  const top = weights.reduce((sum, weight, i) => sum + weight * (rewards[i] as number), 0);
  const bottom = weights.reduce((sum, weight) => sum + weight, 0);
  const without = weights.map((weight, i) => (top - weight * (rewards[i] as number)) / (bottom - weight));
  const mean = without.reduce((sum, value) => sum + value, 0) / n;
  return Math.sqrt(((n - 1) / n) * without.reduce((sum, value) => sum + (value - mean) ** 2, 0));
}

/**
 * Half width of the two-sided empirical Bernstein interval of terms in [0, bound] (Maurer and Pontil 2009). Honest
 * and wide.
 */
export function maurerPontil(terms: readonly number[], bound: number, delta: number): number {
  const n = terms.length;
  const variance = standardError(terms) ** 2 * n;
  const log = Math.log(4 / delta);
  return Math.sqrt((2 * variance * log) / n) + (7 * bound * log) / (3 * (n - 1));
}

function snipsOf(weights: readonly number[], rewards: readonly number[]): number {
  return (
    weights.reduce((sum, weight, i) => sum + weight * (rewards[i] as number), 0) /
    weights.reduce((sum, weight) => sum + weight, 0)
  );
}
