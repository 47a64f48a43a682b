import { importanceWeights, type LoggedData } from './logged-data.ts';

/** Too small for an estimate: effective rows, and their share of all. */
const MINIMUM_ESS = 200;
const MINIMUM_ESS_SHARE = 0.01;
/** Mean weight further from 1 than this many standard errors: the logged probabilities are wrong. */
const WEIGHT_ERRORS = 4;
/**
 * An arm is checked alone when it should have been chosen so often: below, counts are too skewed for standard
 * errors.
 */
const CHECKED_CHOICES = 25;
/** Fewer effective rewards than this do not make an interval. Binds where rewards are rare, such as clicks. */
const MINIMUM_REWARDS = 30;

/** How often an arm was chosen, against how often its logged probabilities say. */
export interface ArmCheck {
  readonly arm: number;
  readonly chosen: number;
  readonly expected: number;
  /** Mean of 1{chosen}/p over the rows where it was possible; 1 when the logged probabilities are right. */
  readonly meanWeight: number;
  /** Distance of that from 1 in the standard errors that the probabilities themselves give. */
  readonly z: number;
}

/** What must be looked at beside every estimate. */
export interface Diagnostics {
  readonly rows: number;
  /** Effective sample size (Σw)² / Σw². */
  readonly ess: number;
  readonly essShare: number;
  /** About 1 when the logged probabilities are right. */
  readonly meanWeight: number;
  readonly meanWeightError: number;
  readonly maxWeight: number;
  /** The largest weight that any action of any row could have had. */
  readonly maxPossibleWeight: number;
  readonly minLoggedProbability: number;
  /** Mean probability that the target gives to arms which were never possible in the log. */
  readonly supportDeficiency: number;
  /** Effective number of rewards (Σwr)² / Σ(wr)²: how many rows carry the value. */
  readonly effectiveRewards: number;
  /** Each arm alone, in their order, whatever the target; empty when only the chosen arm's probability is known. */
  readonly arms: readonly ArmCheck[];
}

export function diagnose(data: LoggedData, target: readonly (readonly number[])[]): Diagnostics {
  const weights = importanceWeights(data, target);
  const rows = weights.length;
  let sum = 0;
  let squares = 0;
  let maxWeight = 0;
  for (const weight of weights) {
    sum += weight;
    squares += weight * weight;
    maxWeight = Math.max(maxWeight, weight);
  }
  const meanWeight = sum / rows;
  const variance = rows > 1 ? Math.max(0, (squares - rows * meanWeight * meanWeight) / (rows - 1)) : Infinity;
  let maxPossibleWeight = 0;
  let minLoggedProbability = 1;
  let unsupported = 0;
  data.loggedProbabilities.forEach((logged, i) => {
    minLoggedProbability = Math.min(minLoggedProbability, logged[data.actions[i] as number] as number);
    (target[i] as readonly number[]).forEach((probability, arm) => {
      const p = logged[arm] as number;
      if (p > 0) maxPossibleWeight = Math.max(maxPossibleWeight, probability / p);
      else unsupported += probability;
    });
  });
  let terms = 0;
  let termSquares = 0;
  weights.forEach((weight, i) => {
    const term = weight * (data.rewards[i] as number);
    terms += term;
    termSquares += term * term;
  });
  const ess = squares === 0 ? 0 : (sum * sum) / squares;
  return {
    rows,
    ess,
    essShare: ess / rows,
    meanWeight,
    meanWeightError: Math.sqrt(variance / rows),
    maxWeight,
    maxPossibleWeight,
    minLoggedProbability,
    supportDeficiency: unsupported / rows,
    effectiveRewards: termSquares === 0 ? 0 : (terms * terms) / termSquares,
    arms: data.chosenOnly === true ? [] : checkArms(data),
  };
}

function checkArms({ loggedProbabilities, actions }: LoggedData): ArmCheck[] {
  const count = loggedProbabilities[0]?.length ?? 0;
  return Array.from({ length: count }, (_, arm) => {
    let possible = 0;
    let chosen = 0;
    let expected = 0;
    let sum = 0;
    let variance = 0;
    loggedProbabilities.forEach((row, i) => {
      const p = row[arm] as number;
      if (!(p > 0)) return;
      possible += 1;
      expected += p;
      variance += 1 / p - 1;
      if (actions[i] !== arm) return;
      chosen += 1;
      sum += 1 / p;
    });
    return {
      arm,
      chosen,
      expected,
      meanWeight: possible === 0 ? 1 : sum / possible,
      z: variance === 0 ? 0 : (sum - possible) / Math.sqrt(variance),
    };
  });
}

/** Why no estimate may be given, in words; empty when one may. */
export function refusals(diagnostics: Diagnostics): string[] {
  const { ess, essShare, rows, supportDeficiency, meanWeight, meanWeightError, effectiveRewards, arms } = diagnostics;
  const reasons: string[] = [];
  if (supportDeficiency > 0)
    reasons.push(
      `the policy gives ${(supportDeficiency * 100).toFixed(2)} % of its choices to arms that the log never had`,
    );
  if (ess < MINIMUM_ESS)
    reasons.push(`the effective sample is ${Math.floor(ess)} of ${rows} rows, less than ${MINIMUM_ESS}`);
  else if (essShare < MINIMUM_ESS_SHARE)
    reasons.push(
      `the effective sample is ${(essShare * 100).toFixed(2)} % of the rows, less than ${MINIMUM_ESS_SHARE * 100} %`,
    );
  if (Math.abs(meanWeight - 1) > WEIGHT_ERRORS * meanWeightError)
    reasons.push(
      `the weights average ${meanWeight.toFixed(3)} instead of 1 (standard error ${meanWeightError.toFixed(3)}): the logged probabilities are wrong`,
    );
  for (const { arm, chosen, expected, z } of arms) {
    if (Math.abs(z) > WEIGHT_ERRORS && expected >= CHECKED_CHOICES)
      reasons.push(
        `arm ${arm} was chosen ${chosen} times where the log says about ${Math.round(expected)} (${Math.abs(z).toFixed(1)} standard errors off by weight): the logged probabilities are wrong`,
      );
  }
  if (effectiveRewards < MINIMUM_REWARDS)
    reasons.push(`the value rests on ${effectiveRewards.toFixed(1)} effective rewards, less than ${MINIMUM_REWARDS}`);
  return reasons;
}
