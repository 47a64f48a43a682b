import { importanceWeights, type LoggedData } from './logged-data.ts';

export interface EstimatorSettings {
  /** Weights of `IPS_clipped` are cut at it. */
  readonly clipAt: number;
  /** Above it Switch estimators trust the model instead of the weight. */
  readonly switchAt: number;
  /** Shrinkage of DRos. */
  readonly shrinkage: number;
}

/** Terms whose means are the estimates, for intervals. */
export interface EstimatorTerms {
  readonly weights: readonly number[];
  /** w r. */
  readonly ips: readonly number[];
  /** Σₐ π(a) q(a). */
  readonly dm: readonly number[];
  /** dm + w (r - q). */
  readonly dr: readonly number[];
  /** q of the chosen arm. */
  readonly chosen: readonly number[];
}

/** Values of a policy by each estimator. */
export interface Estimates {
  /** Horvitz and Thompson 1952. */
  readonly ips: number;
  readonly ipsClipped: number;
  /** Swaminathan and Joachims 2015. */
  readonly snips: number;
  /** The model alone; reported, never trusted alone. */
  readonly dm: number;
  /** Dudík, Langford, Li 2011. */
  readonly dr: number;
  readonly sndr: number;
  /** The residual only of rows with small weights. */
  readonly switchDr: number;
  /** Wang, Agarwal, Dudík 2017: the model for every action with a large weight. */
  readonly switch: number;
  /** Su et al. 2020. */
  readonly drOs: number;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** @param q predicted reward of every arm for every row, n by K. */
export function estimatorTerms(
  data: LoggedData,
  target: readonly (readonly number[])[],
  q: readonly (readonly number[])[],
): EstimatorTerms {
  const weights = importanceWeights(data, target);
  const dm = target.map((distribution, i) =>
    distribution.reduce((sum, probability, arm) => sum + probability * ((q[i] as readonly number[])[arm] as number), 0),
  );
  const chosen = data.actions.map((action, i) => (q[i] as readonly number[])[action] as number);
  const ips = weights.map((weight, i) => weight * (data.rewards[i] as number));
  const dr = dm.map(
    (value, i) => value + (weights[i] as number) * ((data.rewards[i] as number) - (chosen[i] as number)),
  );
  return { weights, ips, dm, dr, chosen };
}

export function estimate(
  data: LoggedData,
  target: readonly (readonly number[])[],
  q: readonly (readonly number[])[],
  settings: EstimatorSettings,
): Estimates {
  const { weights, ips, dm, dr, chosen } = estimatorTerms(data, target, q);
  const { rewards, loggedProbabilities } = data;
  const sumOfWeights = weights.reduce((sum, weight) => sum + weight, 0);
  const residual = (i: number): number => (rewards[i] as number) - (chosen[i] as number);
  const meanOf = (term: (weight: number, i: number) => number): number => mean(weights.map(term));
  const dmValue = mean(dm);
  return {
    ips: mean(ips),
    ipsClipped: meanOf((weight, i) => Math.min(weight, settings.clipAt) * (rewards[i] as number)),
    snips: ips.reduce((sum, term) => sum + term, 0) / sumOfWeights,
    dm: dmValue,
    dr: mean(dr),
    sndr: dmValue + weights.reduce((sum, weight, i) => sum + weight * residual(i), 0) / sumOfWeights,
    switchDr: dmValue + meanOf((weight, i) => (weight <= settings.switchAt ? weight * residual(i) : 0)),
    switch: meanOf((weight, i) => {
      const kept = weight <= settings.switchAt ? weight * (rewards[i] as number) : 0;
      const logged = loggedProbabilities[i] as readonly number[];
      const modelled = (target[i] as readonly number[]).reduce(
        (sum, probability, arm) =>
          sum +
          (probability / (logged[arm] as number) > settings.switchAt
            ? probability * ((q[i] as readonly number[])[arm] as number)
            : 0),
        0,
      );
      return kept + modelled;
    }),
    drOs:
      dmValue +
      meanOf((weight, i) => ((settings.shrinkage * weight) / (weight * weight + settings.shrinkage)) * residual(i)),
  };
}
