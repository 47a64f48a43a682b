import type { DeterministicReason, RouteDecision } from '@sluice/contracts';

/** The record of a choice that no policy made: propensity 1, marked, left out of evaluation. */
export function fixedDecision({
  decisionId,
  model,
  costNanoUsd,
  reason,
  featureClass,
}: {
  decisionId: string;
  model: string;
  costNanoUsd: number;
  reason: Extract<DeterministicReason, 'pin' | 'rule' | 'single_candidate' | 'no_snapshot'>;
  featureClass?: string | undefined;
}): RouteDecision {
  return {
    decision_id: decisionId,
    features: [],
    ...(featureClass === undefined ? {} : { feature_class: featureClass }),
    arms: [{ model, cost_nanousd: costNanoUsd, probability: 1 }],
    chosen: model,
    base: model,
    fallback: false,
    propensity: 1,
    u: 0,
    alpha: 0,
    gamma: 0,
    floor: 0,
    rejected_floor: 0,
    rule: 'cheapest',
    cost_weight: 0,
    latency_share: 0,
    threshold: { value: 0, base: 0, difficulty: 0, pressure: 0, budget: 0 },
    deterministic: reason,
    evaluated: false,
  };
}
