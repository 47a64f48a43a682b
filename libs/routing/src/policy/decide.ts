import type { Prediction } from '../linear/ridge-arm.ts';
import { inverseGapWeights, sampleArm, withFloor } from './exploration.ts';
import { baseArm, judge, utilityOf, type BaseRule, type Confidence } from './good-enough.ts';

/** One model that may answer, as the decision sees it. */
export interface Candidate {
  readonly model: string;
  /** Expected cost of this request there, nanodollars. */
  readonly costNanoUsd: number;
  readonly prediction: Prediction;
  /** Why it must not be chosen; undefined for an eligible one. */
  readonly excluded?: string;
}

/** What one published policy decides by; frozen with its snapshot, so that every probability can be computed again. */
export interface DecisionSettings {
  /** Widths on either side of a prediction. */
  readonly alpha: number;
  /** Quality that is asked for, in [0, 1]. */
  readonly threshold: number;
  /** Exploitation of inverse-gap weighting. */
  readonly gamma: number;
  /** Smallest probability of an eligible arm. */
  readonly floor: number;
  /** Weight of cost in the utility: what the dearest candidate's whole cost is worth in quality. */
  readonly costWeight: number;
  /**
   * What `costWeight` weighs instead of the dearest candidate of the request, in the candidates' unit, above 0: one
   * cost for all requests, such as the mean of the dearest. Then a dear request gives up more quality to save than
   * a cheap one does.
   */
  readonly referenceCost?: number | undefined;
  /** Which arm to stand on; the cheapest that is good enough when absent. */
  readonly rule?: BaseRule;
  /**
   * Probability of each eligible arm that is rejected; none when absent. A little of it keeps every arm in the
   * support of later evaluation, and lets a model that became better be found out.
   */
  readonly rejectedFloor?: number;
}

export interface DecidedArm {
  readonly model: string;
  readonly costNanoUsd: number;
  readonly mean: number;
  readonly lower: number;
  readonly upper: number;
  readonly confidence: Confidence;
  /** Quality less the cost's share. */
  readonly utility: number;
  /** With which it was drawn; 0 for an arm that could not be. */
  readonly probability: number;
  readonly excluded?: string;
}

export interface Decision {
  readonly model: string;
  /** Exact probability with which this model was chosen. */
  readonly propensity: number;
  /** All candidates in their order, excluded and rejected ones with probability 0. */
  readonly arms: readonly DecidedArm[];
  /** The model that would be chosen without exploration. */
  readonly base: string;
  /** No arm was proven good enough, or by the rule `utility` none can be. */
  readonly fallback: boolean;
  /** Another than the base was drawn. */
  readonly explored: boolean;
  /** There was nothing to choose from: left out of evaluation. */
  readonly deterministic: boolean;
}

/**
 * Chooses the cheapest model that is good enough, and now and then another that could be, with a probability that is
 * exact: inverse-gap weights around the base arm over all proven and possible arms, mixed with a floor.
 *
 * @param u uniform draw in [0, 1), logged with the decision.
 * @returns undefined when every candidate is excluded.
 * @throws RangeError when a prediction, a cost or the draw is not a number that can be.
 */
export function decide(candidates: readonly Candidate[], settings: DecisionSettings, u: number): Decision | undefined {
  const eligible = candidates.filter(({ excluded }) => excluded === undefined);
  if (eligible.length === 0) return undefined;
  for (const { model, costNanoUsd, prediction } of eligible) {
    if (
      !(costNanoUsd >= 0) ||
      !Number.isFinite(costNanoUsd) ||
      !Number.isFinite(prediction.mean) ||
      !(prediction.width >= 0)
    )
      throw new RangeError(`model ${model} has a cost or a prediction that is not a number`);
  }
  const { alpha, threshold, costWeight } = settings;
  if (settings.referenceCost !== undefined && !(settings.referenceCost > 0))
    throw new RangeError(`the reference cost must be above 0, not ${settings.referenceCost}`);
  const dearest = Math.max(...eligible.map(({ costNanoUsd }) => costNanoUsd));
  const weigh = { costWeight, referenceCost: settings.referenceCost, dearest };
  const judged = eligible.map(({ prediction }) => judge(prediction, alpha, threshold));
  const utilities = eligible.map(({ prediction, costNanoUsd }) => utilityOf(prediction.mean, costNanoUsd, weigh));
  const base = baseArm(
    settings.rule ?? 'cheapest',
    judged,
    eligible.map(({ costNanoUsd }) => costNanoUsd),
    utilities,
  );
  const open = eligible.map((_, i) => i).filter((i) => i === base.arm || judged[i]?.confidence !== 'rejected');
  const weights = withFloor(
    inverseGapWeights(
      open.map((i) => utilities[i] as number),
      settings.gamma,
      open.indexOf(base.arm),
    ),
    settings.floor,
  );
  const { rejectedFloor = 0 } = settings;
  if (rejectedFloor > 0 && open.length < eligible.length)
    exploreRejected(open, weights, eligible.length, rejectedFloor);
  const drawn = open[sampleArm(weights, u)] as number;
  const arms = candidates.map((candidate): DecidedArm => {
    const { model, costNanoUsd, prediction, excluded } = candidate;
    const at = eligible.indexOf(candidate);
    const { mean, lower, upper, confidence } = judged[at] ?? judge(prediction, alpha, threshold);
    const utility = utilities[at] ?? utilityOf(mean, costNanoUsd, weigh);
    const place = open.indexOf(at);
    return {
      model,
      costNanoUsd,
      mean,
      lower,
      upper,
      confidence,
      utility,
      probability: at < 0 || place < 0 ? 0 : (weights[place] as number),
      ...(excluded === undefined ? {} : { excluded }),
    };
  });
  return {
    model: (eligible[drawn] as Candidate).model,
    propensity: weights[open.indexOf(drawn)] as number,
    arms,
    base: (eligible[base.arm] as Candidate).model,
    fallback: base.fallback,
    explored: drawn !== base.arm,
    deterministic: open.length === 1,
  };
}

/** Gives every arm that is not open the floor, at the cost of all open ones alike. */
function exploreRejected(open: number[], weights: number[], eligible: number, floor: number): void {
  const share = 1 - (eligible - open.length) * floor;
  if (share <= 0) throw new RangeError(`a floor of ${floor} does not fit ${eligible - open.length} rejected arms`);
  for (let i = 0; i < weights.length; i += 1) weights[i] = (weights[i] as number) * share;
  for (let arm = 0; arm < eligible; arm += 1) {
    if (open.includes(arm)) continue;
    open.push(arm);
    weights.push(floor);
  }
}
