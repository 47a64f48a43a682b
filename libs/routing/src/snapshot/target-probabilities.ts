import type { PolicySettings, RouteDecision } from '@sluice/contracts';
import { decide } from '../policy/decide.ts';
import { contextOf, predictModel, type CompiledPolicy } from './compile-snapshot.ts';
import { referenceCostOf, thresholdOf, toCandidates } from './decide-from-snapshot.ts';
import { extractionOf, looksAt } from './extractors.ts';

export interface TenantSignalValues {
  readonly difficulty: number;
  readonly pressure: number;
}

/**
 * Difficulty and pressure that a logged decision was made with, from what they moved; 0 where the policy did not
 * look.
 */
export function loggedSignals(
  { threshold }: RouteDecision,
  settings: PolicySettings | undefined,
): TenantSignalValues & { readonly budgetUsed: number } {
  if (settings === undefined) return { difficulty: 0, pressure: 0, budgetUsed: 0 };
  const { difficulty_weight: d, pressure_weight: p, budget } = settings;
  return {
    difficulty: d === 0 ? 0 : threshold.difficulty / d,
    pressure: p === 0 ? 0 : -threshold.pressure / p,
    budgetUsed:
      threshold.budget === 0 || budget.drop === 0
        ? 0
        : budget.from + ((1 - budget.from) * -threshold.budget) / budget.drop,
  };
}

/**
 * What a policy would have done where a decision was logged: the probability of each of its arms, in their order. It is
 * given the same features, candidates, exclusions, costs and signals.
 *
 * @throws RangeError when the policy looks at other features.
 */
export function targetProbabilities(
  policy: CompiledPolicy,
  record: RouteDecision,
  tenant: string,
  signals: TenantSignalValues & { readonly budgetUsed: number },
): number[] {
  const { settings, gamma, features } = policy.source;
  if (!looksAt(features, record))
    throw new RangeError(
      `the decision has the features '${record.extractor}', the policy looks at '${extractionOf(features)}'`,
    );
  const x = contextOf(policy, record.features);
  const arms = record.arms.map((logged) => {
    const arm = policy.arms.get(logged.model) ?? policy.unseen;
    const { latency_ms: _logged, ...rest } = logged;
    return {
      ...rest,
      ...predictModel(policy, logged.model, x, record.features),
      ...(arm.meanLatencyMs === undefined ? {} : { latency_ms: arm.meanLatencyMs }),
    };
  });
  const eligible = arms.filter(({ excluded }) => excluded === undefined);
  const latencyShare = eligible.every(({ latency_ms }) => latency_ms !== undefined)
    ? settings.latency_weight * signals.pressure
    : 0;
  const threshold = thresholdOf(settings, signals, {
    tenant,
    featureClass: record.feature_class,
    minQuality: record.min_quality,
    budgetUsed: signals.budgetUsed,
  }).value;
  const floor = Math.min(settings.floor, 1 / eligible.length);
  const decided = decide(
    toCandidates(arms, latencyShare),
    {
      alpha: settings.alpha,
      threshold,
      gamma,
      floor,
      costWeight: settings.cost_weight,
      rejectedFloor: settings.rejected_floor,
      rule: settings.rule,
      referenceCost: referenceCostOf(settings, latencyShare),
    },
    record.u,
  );
  return decided === undefined ? arms.map(() => 0) : decided.arms.map(({ probability }) => probability);
}
