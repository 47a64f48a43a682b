/**
 * Inverse-gap weighting (Abe and Long 1999; SquareCB: Foster and Rakhlin 2020): an arm is the less likely the
 * further its utility lies below the base arm's. Exact probabilities over the eligible arms, in their order.
 *
 * @param utilities of the eligible arms, higher is better.
 * @param gamma exploitation, 0 (uniform) and above.
 * @param base index of the arm that takes what is left; the best one when absent, ties to the lowest index.
 * @throws RangeError without arms, or with a number that is not finite.
 */
export function inverseGapWeights(
  utilities: readonly number[],
  gamma: number,
  base = indexOfLargest(utilities),
): number[] {
  if (utilities.length === 0) throw new RangeError('there is no arm to choose from');
  if (!utilities.every(Number.isFinite) || !(gamma >= 0))
    throw new RangeError('utilities and gamma must be finite, gamma not below 0');
  const best = utilities[base] as number;
  let rest = 1;
  const weights = utilities.map((utility, arm) => {
    if (arm === base) return 0;
    const weight = 1 / (utilities.length + gamma * Math.max(0, best - utility));
    rest -= weight;
    return weight;
  });
  weights[base] = rest;
  return weights;
}

/**
 * Mixes a floor into probabilities and keeps them exact: p' = (1 - K ε) p + ε. No weight of an evaluation is then
 * above 1/ε.
 *
 * @throws RangeError when K ε is above 1.
 */
export function withFloor(probabilities: readonly number[], floor: number): number[] {
  const share = 1 - probabilities.length * floor;
  if (!(floor >= 0) || share < 0) throw new RangeError(`a floor of ${floor} does not fit ${probabilities.length} arms`);
  return probabilities.map((probability) => share * probability + floor);
}

/** The best arm with 1 - ε, and ε spread over all. */
export function epsilonGreedy(arms: number, best: number, epsilon: number): number[] {
  return Array.from({ length: arms }, (_, arm) => (arm === best ? 1 - epsilon : 0) + epsilon / arms);
}

/**
 * The first arm whose cumulative probability exceeds `u`; the last arm with any probability when rounding leaves none.
 *
 * @param u uniform draw in [0, 1).
 */
export function sampleArm(probabilities: readonly number[], u: number): number {
  if (!(u >= 0 && u < 1)) throw new RangeError(`a draw must lie in [0, 1), not ${u}`);
  let sum = 0;
  for (let arm = 0; arm < probabilities.length; arm += 1) {
    sum += probabilities[arm] as number;
    if (sum > u) return arm;
  }
  return probabilities.findLastIndex((probability) => probability > 0);
}

/** gamma = scale · t^exponent; Vowpal Wabbit's defaults are 10 and 0.5, and 3 leaves more for evaluation. */
export function powerGamma(t: number, scale = 3, exponent = 0.5): number {
  return scale * t ** exponent;
}

/** The schedule of the theory for any horizon: c √(K t / (d ln(1 + t/d) + ln(2/δ))). */
export function theoryGamma({
  t,
  arms,
  dimension,
  delta,
  c,
}: {
  t: number;
  arms: number;
  dimension: number;
  delta: number;
  c: number;
}): number {
  return c * Math.sqrt((arms * t) / (dimension * Math.log(1 + t / dimension) + Math.log(2 / delta)));
}

/** Index of the largest value, ties to the lowest index; -1 of an empty list. */
export function indexOfLargest(values: readonly number[]): number {
  let best = values.length === 0 ? -1 : 0;
  for (let i = 1; i < values.length; i += 1) if ((values[i] as number) > (values[best] as number)) best = i;
  return best;
}
