import { AUTO_MODEL, type Model, type Refusal } from '@sluice/contracts';
import type { Call, ModelChoice } from '../../call.ts';
import type { CompiledKey } from '../../compiled-config.ts';
import { judgeModel, modelNotFound } from '../../planning/judge-model.ts';
import { findModel } from './model-lookup.ts';

/** What a caller's name for a model comes to: models in order of preference, or a choice that is left to us. */
export type NamedModels =
  | {
      readonly kind: 'given';
      readonly models: readonly [Model, ...Model[]];
      readonly pinned: boolean;
      readonly choice: ModelChoice | undefined;
    }
  | { readonly kind: 'open'; readonly defaultModel: string | undefined };

const BY_RULE: ModelChoice = { kind: 'made', by: 'rule' };
const BY_PIN: ModelChoice = { kind: 'made', by: 'pin' };

/**
 * Alias, then `auto`, the catalogue, pins; a feature's own model goes before all but a pin. `auto`, and in a
 * workspace whose policy is `learned` every name that is no pin, leaves the choice to the learned policy.
 */
export function namedModels(
  call: Call,
  key: CompiledKey,
  requested: string,
  feature: string | undefined,
  nowMs: number,
): NamedModels | Refusal {
  const { routing } = key.workspace.policy;
  const name = Object.hasOwn(routing.aliases, requested) ? (routing.aliases[requested] as string) : requested;
  const preferred = featureModel(call, key, feature, nowMs);
  if (name === AUTO_MODEL) {
    if (call.operation === 'embeddings')
      return {
        code: 'invalid_value',
        param: 'model',
        message: `'${AUTO_MODEL}' chooses among models that chat; name a model for embeddings.`,
      };
    return preferred === undefined
      ? { kind: 'open', defaultModel: routing.defaultModel }
      : { kind: 'given', models: [preferred], pinned: false, choice: BY_RULE };
  }
  const named = findModel(call.config, name);
  if (named === undefined) return modelNotFound(requested);
  const { model, pinned } = named;
  const refusal = judgeModel(call.config, key, model, call.operation, nowMs);
  if (refusal !== undefined) return refusal;
  const learned = routing.learned && call.operation !== 'embeddings' && call.operation !== 'count_tokens';
  if (pinned) return { kind: 'given', models: [model], pinned, choice: learned ? BY_PIN : undefined };
  if (preferred !== undefined)
    return {
      kind: 'given',
      models: preferred === model ? [model] : [preferred, model],
      pinned,
      choice: learned ? BY_RULE : undefined,
    };
  return learned
    ? { kind: 'open', defaultModel: model.id }
    : { kind: 'given', models: [model], pinned, choice: undefined };
}

/** The model that the policy prefers for a feature, where this key may use it. */
function featureModel(call: Call, key: CompiledKey, feature: string | undefined, nowMs: number): Model | undefined {
  const { features } = key.workspace.policy.routing;
  const id = feature !== undefined && Object.hasOwn(features, feature) ? features[feature]?.model : undefined;
  const model = id === undefined ? undefined : call.config.models.get(id);
  return model !== undefined && judgeModel(call.config, key, model, call.operation, nowMs) === undefined
    ? model
    : undefined;
}
