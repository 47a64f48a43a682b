import type { Prediction } from '../linear/ridge-arm.ts';
import { indexOfLargest } from './exploration.ts';

/** `proven` good enough even at its lower bound, `possible` at its upper bound, `rejected` below it. */
export type Confidence = 'proven' | 'possible' | 'rejected';

export interface JudgedArm {
  readonly mean: number;
  readonly lower: number;
  readonly upper: number;
  readonly confidence: Confidence;
}

/** Judges a prediction against the quality that is asked for, with `alpha` widths on either side. */
export function judge({ mean, width }: Prediction, alpha: number, threshold: number): JudgedArm {
  const lower = mean - alpha * width;
  const upper = mean + alpha * width;
  return {
    mean,
    lower,
    upper,
    confidence: lower >= threshold ? 'proven' : upper >= threshold ? 'possible' : 'rejected',
  };
}

export interface BaseChoice {
  /** Index of the arm to stand on. */
  readonly arm: number;
  /** No arm is proven good enough: it is the one with the best mean. */
  readonly fallback: boolean;
}

/**
 * The cheapest arm that is proven good enough, ties to the lowest index; where none is, the one with the best mean.
 *
 * @param costs of the arms in any one unit, in the arms' order.
 * @throws RangeError without arms.
 */
export function cheapestGoodEnough(arms: readonly JudgedArm[], costs: readonly number[]): BaseChoice {
  if (arms.length === 0) throw new RangeError('there is no arm to choose from');
  let cheapest = -1;
  arms.forEach(({ confidence }, arm) => {
    if (confidence === 'proven' && (cheapest < 0 || (costs[arm] as number) < (costs[cheapest] as number)))
      cheapest = arm;
  });
  return cheapest >= 0
    ? { arm: cheapest, fallback: false }
    : { arm: indexOfLargest(arms.map(({ mean }) => mean)), fallback: true };
}

/**
 * `cheapest` stands on the cheapest arm that is proven good enough and keeps a promise of quality. `utility` stands
 * on the arm with the most quality for its cost among those that can be good enough; it saves more where quality is
 * to be held on average (docs/routing-evidence.md).
 */
export type BaseRule = 'cheapest' | 'utility';

/** The arm to stand on by a rule. @throws RangeError without arms. */
export function baseArm(
  rule: BaseRule,
  arms: readonly JudgedArm[],
  costs: readonly number[],
  utilities: readonly number[],
): BaseChoice {
  if (rule === 'cheapest') return cheapestGoodEnough(arms, costs);
  const arm = indexOfLargest(utilities.map((utility, i) => (arms[i]?.confidence === 'rejected' ? -Infinity : utility)));
  if (arm < 0) throw new RangeError('there is no arm to choose from');
  return arms[arm]?.confidence === 'rejected'
    ? { arm: indexOfLargest(arms.map(({ mean }) => mean)), fallback: true }
    : { arm, fallback: false };
}

/**
 * Quality less the share of the dearest candidate's cost (the form of BaRP): r = q - λ min(c / c_ref, 1).
 *
 * @param referenceCost cost of the dearest candidate of this request; 0 when all are free.
 */
export function costAdjusted(quality: number, cost: number, referenceCost: number, lambda: number): number {
  return quality - lambda * (referenceCost <= 0 ? 0 : Math.min(cost / referenceCost, 1));
}

/**
 * Quality less what a cost weighs. Beside a fixed reference a cost counts in full; a share of the dearest is cut at 1.
 *
 * @param dearest cost of the dearest candidate that may be chosen.
 */
export function utilityOf(
  quality: number,
  cost: number,
  {
    costWeight,
    referenceCost,
    dearest,
  }: { readonly costWeight: number; readonly referenceCost?: number | undefined; readonly dearest: number },
): number {
  return referenceCost === undefined
    ? costAdjusted(quality, cost, dearest, costWeight)
    : quality - (costWeight * cost) / referenceCost;
}
