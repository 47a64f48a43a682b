/** Mean and variance of which the newest values weigh most; JSON-safe. */
export interface DecayingMoments {
  readonly n: number;
  readonly mean: number;
  readonly variance: number;
}

export const NO_MOMENTS: DecayingMoments = { n: 0, mean: 0, variance: 0 };

/**
 * Adds one value, with weight `alpha`, or 1/n while that is more (West 1979).
 *
 * @param alpha in (0, 1); the mean looks back on about 1/alpha values.
 */
export function addMoment({ n, mean, variance }: DecayingMoments, x: number, alpha: number): DecayingMoments {
  const weight = Math.max(alpha, 1 / (n + 1));
  const apart = x - mean;
  return { n: n + 1, mean: mean + weight * apart, variance: (1 - weight) * (variance + weight * apart * apart) };
}

/** Standard error of the mean of many independent values. */
export const momentError = ({ variance }: DecayingMoments, alpha: number): number =>
  Math.sqrt((variance * alpha) / (2 - alpha));
