import type { DecidedArmRecord, PolicySettings, RouteDecision } from '@sluice/contracts';
import { decide, type Candidate } from '../policy/decide.ts';
import { contextOf, predictModel, type CompiledPolicy, type CompiledSnapshot } from './compile-snapshot.ts';
import { priceArms } from './price-arms.ts';

export interface SnapshotCandidate {
  readonly model: string;
  /** Expected cost of this request there, nanodollars. */
  readonly costNanoUsd: number;
  /** Why it must not be chosen, where that is known before. */
  readonly excluded?: string | undefined;
}

export interface SnapshotRequest {
  readonly decisionId: string;
  readonly tenant: string;
  /** Feature tag of the call. */
  readonly featureClass?: string | undefined;
  /** Raw features, in the order of the snapshot's extractor. */
  readonly features: readonly number[];
  /** In any order; each model once. */
  readonly candidates: readonly SnapshotCandidate[];
  /** Share of the nearest money quota that is used. */
  readonly budgetUsed?: number | undefined;
  /** Asked for by the caller: the threshold exactly, moved by nothing. */
  readonly minQuality?: number | undefined;
  readonly maxCostNanoUsd?: number | undefined;
  readonly maxLatencyMs?: number | undefined;
  /** Instead of the policy's. */
  readonly costWeight?: number | undefined;
  /** Uniform draw in [0, 1) among the arms. */
  readonly u: number;
  /** Uniform draw in [0, 1) between control and candidate of a rollout. */
  readonly variantDraw: number;
}

export interface ExcludedCandidate {
  readonly model: string;
  readonly reason: string;
}

export type SnapshotDecision =
  | { readonly status: 'decided'; readonly decision: RouteDecision }
  | { readonly status: 'none_eligible'; readonly excluded: readonly ExcludedCandidate[] }
  | { readonly status: 'bad_features'; readonly message: string };

/** The quality that is asked for, and what moved it. */
export function thresholdOf(
  settings: PolicySettings,
  tenant: { readonly difficulty: number; readonly pressure: number } | undefined,
  request: Pick<SnapshotRequest, 'tenant' | 'featureClass' | 'minQuality' | 'budgetUsed'>,
): RouteDecision['threshold'] {
  if (request.minQuality !== undefined)
    return { value: request.minQuality, base: request.minQuality, difficulty: 0, pressure: 0, budget: 0 };
  const base = baseThreshold(settings, request.tenant, request.featureClass);
  const difficulty = settings.difficulty_weight * (tenant?.difficulty ?? 0);
  const pressure = 0 - settings.pressure_weight * (tenant?.pressure ?? 0);
  const { from, drop } = settings.budget;
  const used = request.budgetUsed ?? 0;
  const budget = used > from ? 0 - (drop * (used - from)) / (1 - from) : 0;
  return { value: Math.max(0, Math.min(1, base + difficulty + pressure + budget)), base, difficulty, pressure, budget };
}

/**
 * The one decision of router and gateway: the same snapshot, request and draws give the same to the last bit.
 * Chooses the variant of a rollout, then by that policy's models the cheapest candidate that is good enough, with
 * exploration.
 *
 * @throws RangeError when a draw or a cost is not a number that can be.
 */
export function decideFromSnapshot(compiled: CompiledSnapshot, request: SnapshotRequest): SnapshotDecision {
  const { snapshot } = compiled;
  const rollout = snapshot.candidate;
  const isCandidate = rollout !== undefined && compiled.candidate !== undefined && request.variantDraw < rollout.weight;
  const policy = isCandidate ? (compiled.candidate as CompiledPolicy) : compiled.control;
  const { settings, gamma } = policy.source;
  const bad = badFeature(request.features, compiled.extractor.names);
  if (bad !== undefined) return { status: 'bad_features', message: bad };
  const x = contextOf(policy, request.features);
  const signals = Object.hasOwn(snapshot.tenants, request.tenant) ? snapshot.tenants[request.tenant] : undefined;
  const threshold = thresholdOf(settings, signals, request);
  const costWeight = request.costWeight ?? settings.cost_weight;

  const arms = request.candidates.map((candidate) => judgeCandidate(policy, candidate, request, x));
  const eligible = arms.filter(({ excluded }) => excluded === undefined);
  if (eligible.length === 0)
    return {
      status: 'none_eligible',
      excluded: arms.map(({ model, excluded }) => ({ model, reason: excluded as string })),
    };
  const latencyShare = eligible.every(({ latency_ms }) => latency_ms !== undefined)
    ? settings.latency_weight * (signals?.pressure ?? 0)
    : 0;
  const referenceCost = referenceCostOf(settings, latencyShare);
  const floor = Math.min(settings.floor, 1 / eligible.length);
  const decided = decide(
    toCandidates(arms, latencyShare),
    {
      alpha: settings.alpha,
      threshold: threshold.value,
      gamma,
      floor,
      costWeight,
      rejectedFloor: settings.rejected_floor,
      rule: settings.rule,
      referenceCost,
    },
    request.u,
  );
  if (decided === undefined) throw new RangeError('an eligible candidate was not decided upon');
  const deterministic = !decided.deterministic
    ? undefined
    : eligible.length === 1
      ? ('single_candidate' as const)
      : ('single_open' as const);
  for (let i = 0; i < arms.length; i += 1)
    (arms[i] as DecidedArmRecord).probability = (decided.arms[i] as { probability: number }).probability;
  return {
    status: 'decided',
    decision: {
      decision_id: request.decisionId,
      policy_version: policy.source.version,
      snapshot_id: snapshot.snapshot_id,
      ...(rollout === undefined
        ? {}
        : {
            rollout: {
              id: rollout.rollout_id,
              stage: rollout.stage,
              variant: isCandidate ? ('candidate' as const) : ('control' as const),
              weight: rollout.weight,
            },
          }),
      extractor: compiled.extractor.name,
      features: [...request.features],
      ...(request.featureClass === undefined ? {} : { feature_class: request.featureClass }),
      arms,
      chosen: decided.model,
      base: decided.base,
      fallback: decided.fallback,
      propensity: decided.propensity,
      u: request.u,
      alpha: settings.alpha,
      gamma,
      floor,
      rejected_floor: settings.rejected_floor,
      rule: settings.rule,
      cost_weight: costWeight,
      ...(referenceCost === undefined ? {} : { reference_cost: referenceCost }),
      latency_share: latencyShare,
      threshold,
      ...(request.minQuality === undefined ? {} : { min_quality: request.minQuality }),
      ...(deterministic === undefined ? {} : { deterministic }),
      evaluated: deterministic === undefined,
    },
  };
}

/**
 * What cost is weighed against; the dearest candidate, as undefined says, where a price is partly a latency and so
 * has no unit.
 */
export function referenceCostOf(settings: PolicySettings, latencyShare: number): number | undefined {
  return latencyShare > 0 ? undefined : settings.reference_cost;
}

/** The record's arms as `decide` takes them. */
export function toCandidates(arms: readonly DecidedArmRecord[], latencyShare: number): Candidate[] {
  const prices = priceArms(arms, latencyShare);
  return arms.map(({ model, mean = 0, width = 0, excluded }, i) => ({
    model,
    costNanoUsd: prices[i] as number,
    prediction: { mean, width },
    ...(excluded === undefined ? {} : { excluded }),
  }));
}

function judgeCandidate(
  policy: CompiledPolicy,
  { model, costNanoUsd, excluded }: SnapshotCandidate,
  request: SnapshotRequest,
  x: readonly number[],
): DecidedArmRecord {
  const { maxCostNanoUsd, maxLatencyMs } = request;
  const { mean, width, score } = predictModel(policy, model, x, request.features);
  const record: DecidedArmRecord = { model, cost_nanousd: costNanoUsd, mean, width, probability: 0 };
  if (score !== undefined) record.score = score;
  const latencyMs = policy.arms.get(model)?.meanLatencyMs;
  if (latencyMs !== undefined) record.latency_ms = latencyMs;
  if (excluded !== undefined) record.excluded = excluded;
  else if (maxCostNanoUsd !== undefined && costNanoUsd > maxCostNanoUsd)
    record.excluded = `it would cost about ${costNanoUsd} nanodollars, more than ${maxCostNanoUsd}`;
  else if (maxLatencyMs !== undefined && latencyMs !== undefined && latencyMs > maxLatencyMs)
    record.excluded = `it takes ${Math.round(latencyMs)} ms on average, more than ${maxLatencyMs}`;
  return record;
}

function baseThreshold({ thresholds }: PolicySettings, tenant: string, featureClass: string | undefined): number {
  const own = Object.hasOwn(thresholds.tenants, tenant) ? thresholds.tenants[tenant] : undefined;
  const of = (features: Record<string, number> | undefined): number | undefined =>
    featureClass !== undefined && features !== undefined && Object.hasOwn(features, featureClass)
      ? features[featureClass]
      : undefined;
  return of(own?.features) ?? own?.default ?? of(thresholds.features) ?? thresholds.default;
}

function badFeature(features: readonly number[], names: readonly string[]): string | undefined {
  if (features.length !== names.length)
    return `there are ${features.length} features; the policy looks at ${names.length}`;
  const at = features.findIndex((value) => !Number.isFinite(value));
  return at < 0 ? undefined : `the feature ${names[at]} is ${features[at]}, not a finite number`;
}
