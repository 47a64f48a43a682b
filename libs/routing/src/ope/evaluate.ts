import { crossFit } from './direct-model.ts';
import { diagnose, refusals, type Diagnostics } from './diagnostics.ts';
import { estimate, estimatorTerms, type Estimates, type EstimatorSettings } from './estimators.ts';
import { snipsErrorByInfluence, standardError, Z95 } from './intervals.ts';
import { assertLoggedData, type LoggedData } from './logged-data.ts';

export interface Interval {
  readonly lower: number;
  readonly upper: number;
}

export type Evaluation =
  | { readonly status: 'insufficient'; readonly reasons: readonly string[]; readonly diagnostics: Diagnostics }
  | {
      readonly status: 'estimated';
      readonly estimates: Estimates;
      /** 95 % by the normal approximation. */
      readonly intervals: { readonly snips: Interval; readonly dr: Interval };
      /** Distance of DM and DR in standard errors of DR; large when the model is wrong. */
      readonly modelGap: number;
      readonly diagnostics: Diagnostics;
    };

export interface EvaluateOptions extends Partial<EstimatorSettings> {
  /** Ridge penalty of the reward model. */
  readonly lambda?: number;
  readonly folds?: number;
}

/**
 * The value of a policy from the log of another, with all diagnostics; `insufficient` instead of a number when the log
 * says too little of it. The reward model is cross-fitted by row.
 *
 * @throws InvalidLogError when the log is not one.
 */
export function evaluatePolicy(
  data: LoggedData,
  target: readonly (readonly number[])[],
  options: EvaluateOptions = {},
): Evaluation {
  assertLoggedData(data, target);
  const diagnostics = diagnose(data, target);
  const reasons = refusals(diagnostics);
  if (reasons.length > 0) return { status: 'insufficient', reasons, diagnostics };
  const { lambda = 1, folds = 5, clipAt = 10, switchAt = 10, shrinkage = 10 } = options;
  const q = crossFit(data, (target[0] as readonly number[]).length, lambda, folds, (row) => row % folds);
  const estimates = estimate(data, target, q, { clipAt, switchAt, shrinkage });
  const { weights, dr } = estimatorTerms(data, target, q);
  const drError = standardError(dr);
  const around = (value: number, error: number): Interval => ({
    lower: value - Z95 * error,
    upper: value + Z95 * error,
  });
  return {
    status: 'estimated',
    estimates,
    intervals: {
      snips: around(estimates.snips, snipsErrorByInfluence(weights, data.rewards)),
      dr: around(estimates.dr, drError),
    },
    modelGap: drError === 0 ? 0 : Math.abs(estimates.dm - estimates.dr) / drError,
    diagnostics,
  };
}
