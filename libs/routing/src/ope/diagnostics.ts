import { importanceWeights, type LoggedData } from './logged-data.ts';

/** Too small for an estimate: effective rows, and their share of all. */
const MINIMUM_ESS = 200;
const MINIMUM_ESS_SHARE = 0.01;
/** Mean weight further from 1 than this many standard errors: the logged probabilities are wrong. */
const WEIGHT_ERRORS = 4;

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
  };
}

/** Why no estimate may be given, in words; empty when one may. */
export function refusals(diagnostics: Diagnostics): string[] {
  const { ess, essShare, rows, supportDeficiency, meanWeight, meanWeightError } = diagnostics;
  const reasons: string[] = [];
  if (supportDeficiency > 0) reasons.push(`the policy gives ${(supportDeficiency * 100).toFixed(2)} % of its choices to arms that the log never had`);
  if (ess < MINIMUM_ESS) reasons.push(`the effective sample is ${Math.floor(ess)} of ${rows} rows, less than ${MINIMUM_ESS}`);
  else if (essShare < MINIMUM_ESS_SHARE) reasons.push(`the effective sample is ${(essShare * 100).toFixed(2)} % of the rows, less than ${MINIMUM_ESS_SHARE * 100} %`);
  if (Math.abs(meanWeight - 1) > WEIGHT_ERRORS * meanWeightError) reasons.push(`the weights average ${meanWeight.toFixed(3)} instead of 1 (standard error ${meanWeightError.toFixed(3)}): the logged probabilities are wrong`);
  return reasons;
}
