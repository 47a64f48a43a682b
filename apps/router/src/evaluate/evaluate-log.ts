import type { EvaluationAnswer, PolicySettings, RouteDecision } from '@sluice/contracts';
import {
  contextOf,
  evaluatePolicy,
  extractionOf,
  loggedSignals,
  looksAt,
  OffPolicyLowerBound,
  targetProbabilities,
  type CompiledPolicy,
  type Diagnostics,
  type LoggedData,
} from '@sluice/routing';
import type { FeedbackRateRow, RatedDecision } from '../store/router-store.ts';

/** Difference of two models' feedback rates from which on what is missing may not be missing at random. */
const UNEVEN = 0.05;
const ALPHA = 0.05;
const TARGET_ROWS = 2_000;

export interface EvaluationInput {
  readonly policy: CompiledPolicy;
  readonly rated: readonly RatedDecision[];
  readonly rates: readonly FeedbackRateRow[];
  /** Settings of logged policies, to know what moved their thresholds. */
  readonly settingsOf: (version: string) => PolicySettings | undefined;
}

/**
 * The value of a policy from the log of others, with all diagnostics; `insufficient` with the reasons where the log
 * says too little.
 */
export function evaluateLog({ policy, rated, rates, settingsOf }: EvaluationInput): EvaluationAnswer {
  const feedback = rates.map(({ model, decisions, rated: n }) => ({
    model,
    decisions,
    rated: n,
    rate: decisions === 0 ? 0 : n / decisions,
  }));
  const shares = feedback.map(({ rate }) => rate);
  const rows = rated.filter(({ decision }) => looksAt(policy.source.features, decision));
  const rewards = rows.map(({ reward }) => reward);
  const common = {
    policy_version: policy.source.version,
    feedback,
    feedback_uneven: shares.length > 1 && Math.max(...shares) - Math.min(...shares) > UNEVEN,
    ...(rewards.length === 0
      ? {}
      : {
          reward_range: {
            min: rewards.reduce((a, b) => Math.min(a, b)),
            max: rewards.reduce((a, b) => Math.max(a, b)),
          },
        }),
  };
  if (rows.length === 0)
    return {
      status: 'insufficient',
      ...common,
      reasons: [
        rated.length === 0
          ? 'no decision that was drawn has a reward yet'
          : `none of ${rated.length} rated decisions has what the policy looks at (${extractionOf(policy.source.features)}); the scores of a scorer are logged while it serves or is rolled out`,
      ],
    };
  const { data, target, costs } = tablesOf(rows, policy, settingsOf);
  const evaluation = evaluatePolicy(data, target);
  if (evaluation.status === 'insufficient')
    return {
      status: 'insufficient',
      ...common,
      reasons: [...evaluation.reasons],
      diagnostics: shown(evaluation.diagnostics),
    };
  const { estimates, intervals, modelGap, diagnostics } = evaluation;
  const weights = data.actions.map(
    (action, i) => (target[i]?.[action] as number) / (data.loggedProbabilities[i]?.[action] as number),
  );
  return {
    status: 'estimated',
    ...common,
    estimates: {
      ips: estimates.ips,
      ips_clipped: estimates.ipsClipped,
      snips: estimates.snips,
      dm: estimates.dm,
      dr: estimates.dr,
      sndr: estimates.sndr,
      switch: estimates.switch,
      dr_os: estimates.drOs,
    },
    intervals,
    logged_value: mean(rewards),
    difference_lower: differenceLower(weights, rewards),
    model_gap: modelGap,
    cost: {
      policy_nanousd:
        weights.reduce((sum, weight, i) => sum + weight * (costs[i] as number), 0) /
        weights.reduce((sum, weight) => sum + weight, 0),
      logged_nanousd: mean(costs),
    },
    diagnostics: shown(diagnostics),
  };
}

/** The log as the estimators take it, and what the policy would have done; a column for each model that any row had. */
function tablesOf(
  rows: readonly RatedDecision[],
  policy: CompiledPolicy,
  settingsOf: EvaluationInput['settingsOf'],
): { data: LoggedData; target: number[][]; costs: number[] } {
  const models = [...new Set(rows.flatMap(({ decision }) => decision.arms.map(({ model }) => model)))];
  const column = new Map(models.map((model, i) => [model, i]));
  const spread = ({ arms }: RouteDecision, probabilities: readonly number[]): number[] => {
    const row = new Array<number>(models.length).fill(0);
    arms.forEach(({ model }, i) => (row[column.get(model) as number] = probabilities[i] as number));
    return row;
  };
  const target = rows.map(({ decision, tenant }) => {
    const settings = decision.policy_version === undefined ? undefined : settingsOf(decision.policy_version);
    return spread(decision, targetProbabilities(policy, decision, tenant, loggedSignals(decision, settings)));
  });
  const data: LoggedData = {
    contexts: rows.map(({ decision }) => contextOf(policy, decision.features).slice(1)),
    loggedProbabilities: rows.map(({ decision }) =>
      spread(
        decision,
        decision.arms.map(({ probability }) => probability),
      ),
    ),
    actions: rows.map(({ decision }) => column.get(decision.chosen) as number),
    rewards: rows.map(({ reward }) => reward),
  };
  return {
    data,
    target,
    costs: rows.map(({ decision }) => decision.arms.find(({ model }) => model === decision.chosen)?.cost_nanousd ?? 0),
  };
}

/** Lower bound of the value of the policy less what was logged, over the same rows, valid at every look. */
function differenceLower(weights: readonly number[], rewards: readonly number[]): number {
  const bound = new OffPolicyLowerBound({ alpha: ALPHA, target: TARGET_ROWS, initialVariance: 1 });
  // Newest first in the log; the bound is of any order.
  weights.forEach((weight, i) => bound.add(1, 1 + (weight - 1) * (rewards[i] as number)));
  return bound.lower - 1;
}

const shown = (d: Diagnostics) => ({
  rows: d.rows,
  ess: d.ess,
  ess_share: d.essShare,
  mean_weight: d.meanWeight,
  mean_weight_error: Number.isFinite(d.meanWeightError) ? d.meanWeightError : 0,
  max_weight: d.maxWeight,
  min_logged_probability: d.minLoggedProbability,
  support_deficiency: d.supportDeficiency,
});

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
