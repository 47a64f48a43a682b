import type { Model, ModelAbility, Refusal } from '@sluice/contracts';
import type { ExcludedCandidate, ModelChoice, OpenCandidate, Resolved } from '../call.ts';
import type { CompiledConfig, CompiledKey } from '../compiled-config.ts';
import { abilitiesFor, textTokensOf } from '../bodies/facts-of.ts';
import { billedPriceOf, unpricedRefusal, withStatedPrice } from '../metering/pricing.ts';
import type { Planner } from './planner.ts';
import { isPlanRefusal } from './static-plan.ts';
import { judgeModel, modelNotFound } from './judge-model.ts';

/** As many as one record of a decision holds. Of a larger catalogue `allowModels` names those that matter. */
const MAX_CANDIDATES = 64;

export interface OpenCall {
  readonly config: CompiledConfig;
  readonly key: CompiledKey;
  readonly asked: Pick<Resolved, 'inbound' | 'feature' | 'modelRequested' | 'maxOutputTokens' | 'askedUse'>;
  readonly planner: Planner;
  readonly nowMs: number;
  /** Catalogue id of the model that answers where nothing is learned. */
  readonly defaultModel: string | undefined;
}

type OpenChoice = Extract<ModelChoice, { kind: 'open' }>;

/**
 * The models that may answer a call which leaves the choice to us: allowed to workspace and key, within the data
 * rules, not switched off, able to do what the body asks, large enough for it, priced, and offered by the chain.
 * The default comes first: the one that is named, else the one of the highest tier. A model that the key may not
 * use is not even mentioned.
 */
export function openChoice(open: OpenCall): OpenChoice | Refusal {
  const { config, key, asked, nowMs } = open;
  const candidates: OpenCandidate[] = [];
  const excluded: ExcludedCandidate[] = [];
  let stopped: Refusal | undefined;
  let others = false;
  const demands = demandsOf(asked);
  for (const model of config.models.values()) {
    const refusal = judgeModel(config, key, model, asked.inbound.operation, nowMs);
    if (refusal !== undefined) {
      const why = WHY[refusal.code];
      if (why === undefined) continue;
      excluded.push({ model, why });
      if (refusal.code === 'kill_switch') stopped ??= refusal;
      else others = true;
      continue;
    }
    const candidate = candidateOf(open, model, demands);
    if (typeof candidate !== 'string') {
      candidates.push(candidate);
      continue;
    }
    excluded.push({ model, why: candidate });
    others = true;
  }
  const first = defaultOf(candidates, open.defaultModel);
  if (first === undefined) return stopped !== undefined && !others ? stopped : nobody(asked.modelRequested, excluded);
  const rest = candidates.filter((candidate) => candidate !== first).slice(0, MAX_CANDIDATES - 1);
  return {
    kind: 'open',
    candidates: [first, ...rest],
    excluded: excluded.slice(0, MAX_CANDIDATES - 1 - rest.length),
    costs: [],
  };
}

/** Of a model that the key may use. What has no reason here may not be used at all, or is gone. */
const WHY: Readonly<Partial<Record<Refusal['code'], string>>> = {
  kill_switch: 'switched off',
  permission_denied: 'no provider of it is within the data rules',
};

/** What a body demands of a model. */
export interface Demands {
  readonly needs: readonly ModelAbility[];
  readonly inputTokens: number;
  readonly maxOutputTokens: number | undefined;
}

export function demandsOf({ inbound, maxOutputTokens }: Pick<Resolved, 'inbound' | 'maxOutputTokens'>): Demands {
  return { needs: abilitiesFor(inbound), inputTokens: textTokensOf(inbound), maxOutputTokens };
}

/** The model as a candidate for this call, or why it is none. It has passed `judgeModel`. */
export function candidateOf(
  {
    config,
    key,
    asked,
    planner,
  }: Pick<OpenCall, 'config' | 'key' | 'planner'> & {
    readonly asked: Pick<Resolved, 'inbound' | 'feature' | 'askedUse'>;
  },
  model: Model,
  { needs, inputTokens, maxOutputTokens }: Demands,
): OpenCandidate | string {
  for (const need of needs) if (!model.abilities.includes(need)) return `cannot do ${need}`;
  if (inputTokens + (maxOutputTokens ?? 1) > model.contextTokens)
    return `its context of ${model.contextTokens} tokens is too small`;
  if (maxOutputTokens !== undefined && maxOutputTokens > model.maxOutputTokens)
    return `gives at most ${model.maxOutputTokens} tokens`;
  const billedPrice = billedPriceOf(key.workspace.priceBook, model, key.workspace.policy);
  if (billedPrice === undefined) return 'has no price';
  const { policy } = key.workspace;
  if (unpricedRefusal(billedPrice, asked.askedUse, policy, model.id) !== undefined)
    return 'has no price for what is asked';
  const plan = planner.planFor(config, key, {
    inbound: asked.inbound,
    feature: asked.feature,
    pinned: false,
    candidates: [model],
  });
  if (isPlanRefusal(plan))
    return plan.code === 'kill_switch' ? 'switched off' : 'no provider of the chain can serve it';
  return plan.entries[0].model === model.id
    ? { model, billedPrice: withStatedPrice(billedPrice, asked.askedUse, policy), plan }
    : 'the chain answers with another model';
}

function defaultOf(candidates: readonly OpenCandidate[], id: string | undefined): OpenCandidate | undefined {
  const named = id === undefined ? undefined : candidates.find(({ model }) => model.id === id);
  if (named !== undefined) return named;
  let highest = candidates[0];
  for (const candidate of candidates)
    if (candidate.model.tier > (highest as OpenCandidate).model.tier) highest = candidate;
  return highest;
}

function nobody(requested: string, excluded: readonly ExcludedCandidate[]): Refusal {
  if (excluded.length === 0) return modelNotFound(requested);
  const reasons = excluded.slice(0, 8).map(({ model, why }) => `${model.id}: ${why}`);
  return {
    code: 'invalid_value',
    param: 'model',
    message: `No model that this key may use can answer this request (${reasons.join('; ')}).`,
  };
}
