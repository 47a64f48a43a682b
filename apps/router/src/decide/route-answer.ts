import type { RouteAnswer, RouteDecision, RouteRequest } from '@sluice/contracts';
import { explainArms, explainDecision, extractorNamed } from '@sluice/routing';

export interface AnswerFacts {
  readonly decision: RouteDecision;
  readonly provider: string | undefined;
  readonly expiresAtMs: number;
  readonly dryRun: boolean;
  /** Names of the features; those of the extraction alone when absent. */
  readonly names?: readonly string[];
  readonly signals: { readonly difficulty: number; readonly pressure: number; readonly budgetUsed: number };
}

/** A decision as its caller reads it. */
export function routeAnswer(
  { decision, provider, expiresAtMs, dryRun, signals, names: known }: AnswerFacts,
  explain: RouteRequest['explain'],
): RouteAnswer {
  const { rollout, threshold } = decision;
  const arms = explainArms(decision);
  const answer: RouteAnswer = {
    decision_id: decision.decision_id,
    model: decision.chosen,
    ...(provider === undefined ? {} : { provider }),
    propensity: decision.propensity,
    ...(decision.deterministic === undefined ? {} : { deterministic: decision.deterministic }),
    dry_run: dryRun,
    policy: {
      version: decision.policy_version ?? 'none',
      snapshot_id: decision.snapshot_id ?? 'none',
      stage: rollout?.stage ?? 'serving',
      variant: rollout?.variant ?? 'control',
    },
    fallbacks: arms
      .filter((arm) => arm.class !== 'excluded' && arm.model !== decision.chosen)
      .sort((a, b) => (b.utility ?? 0) - (a.utility ?? 0))
      .map(({ model }) => model),
    expires_at: new Date(expiresAtMs).toISOString(),
  };
  if (explain === 'none') return answer;
  const { reason, decidedBy } = explainDecision(decision);
  answer.reason = reason;
  answer.decided_by = decidedBy;
  answer.threshold = {
    tau: threshold.value,
    base: threshold.base,
    difficulty_adj: threshold.difficulty,
    pressure_adj: threshold.pressure,
    budget_adj: threshold.budget,
  };
  if (explain === 'summary') return answer;
  answer.probabilities = Object.fromEntries(decision.arms.map(({ model, probability }) => [model, probability]));
  answer.exploration = {
    strategy: 'igw',
    gamma: decision.gamma,
    floor: decision.floor,
    base_arm: decision.base,
    explored: decision.chosen !== decision.base,
    u: decision.u,
  };
  answer.objective = {
    rule: decision.rule,
    cost_weight: decision.cost_weight,
    ...(decision.reference_cost === undefined ? {} : { reference_cost_nanousd: decision.reference_cost }),
  };
  const names = known ?? extractorNamed((decision.extractor ?? '').split('+')[0] as string)?.names ?? [];
  answer.features = Object.fromEntries(decision.features.map((value, i) => [names[i] ?? `feature_${i}`, value]));
  answer.signals = { difficulty: signals.difficulty, pressure: signals.pressure, budget_used: signals.budgetUsed };
  answer.arms = arms;
  return answer;
}
