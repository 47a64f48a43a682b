import type { KillSwitch, Model, Operation, Refusal } from '@sluice/contracts';
import type { CompiledConfig, CompiledKey, CompiledWorkspace } from '../compiled-config.ts';

/** Whether this key may use this model for this operation now; undefined when it may. */
export function judgeModel(
  config: CompiledConfig,
  key: CompiledKey,
  model: Model,
  operation: Operation,
  nowMs: number,
): Refusal | undefined {
  const { policy } = key.workspace;
  const { allowModels } = policy.routing;
  if (allowModels !== undefined && !allowModels.includes(model.id)) return modelNotFound(model.id);
  if (key.record.allowModels !== undefined && !key.record.allowModels.includes(model.id))
    return modelNotFound(model.id);
  if (model.retirement !== undefined && Date.parse(model.retirement.at) <= nowMs) return retired(model);
  const ability = operation === 'embeddings' ? 'embeddings' : 'chat';
  if (!model.abilities.includes(ability)) {
    return { code: 'invalid_value', param: 'model', message: `The model '${model.id}' cannot be used for ${ability}.` };
  }
  if (config.killSwitches.length > 0) {
    const kill = killSwitchOf(config, model);
    if (kill !== undefined) return killRefusal(kill);
  }
  return withinDataRules(config, key, model);
}

/** What a caller reads of a model that does not exist, or that it may not use: both are one answer. */
export function modelNotFound(name: string): Refusal {
  return {
    code: 'model_not_found',
    param: 'model',
    message: `The model '${name.slice(0, 256)}' does not exist or this key may not use it.`,
  };
}

/** What every call of a workspace reads that is suspended or switched off, whatever it asks for. */
export function closedRefusal({ workspace, tenant, killSwitch }: CompiledWorkspace): Refusal | undefined {
  if (workspace.status === 'suspended' || tenant.status === 'suspended') return { code: 'workspace_suspended' };
  return killSwitch === undefined ? undefined : killRefusal(killSwitch);
}

/** What a caller reads of a kill switch: the operator's message, and when to try again. */
export function killRefusal(kill: KillSwitch): Refusal {
  return { code: 'kill_switch', message: kill.message, retryAfterMs: kill.retryAfterSeconds * 1000 };
}

function retired(model: Model): Refusal {
  const successor = model.retirement?.successor;
  const advice = successor === undefined ? '' : ` Use '${successor}' instead.`;
  return {
    code: 'model_retired',
    param: 'model',
    message: `The model '${model.id}' was retired on ${model.retirement?.at.slice(0, 10)}.${advice}`,
  };
}

/** The switch on the model itself, or the one on its last provider that was left. */
function killSwitchOf(config: CompiledConfig, model: Model): KillSwitch | undefined {
  let provider: KillSwitch | undefined;
  const stopped = new Set<string>();
  for (const kill of config.killSwitches) {
    if (kill.scope === 'model' && kill.target === model.id) return kill;
    if (
      kill.scope === 'provider' &&
      kill.target !== undefined &&
      model.offers.some((offer) => offer.provider === kill.target)
    ) {
      stopped.add(kill.target);
      provider = kill;
    }
  }
  return model.offers.every((offer) => stopped.has(offer.provider)) ? provider : undefined;
}

function withinDataRules(config: CompiledConfig, key: CompiledKey, model: Model): Refusal | undefined {
  const { regions, allowedProviders } = key.workspace.policy.dataRules;
  if (regions === undefined && allowedProviders === undefined) return undefined;
  const allowed = model.offers.some(({ provider: id }) => {
    const provider = config.providers.get(id);
    if (provider === undefined || allowedProviders?.includes(id) === false) return false;
    return regions === undefined || regions.includes(provider.region);
  });
  return allowed
    ? undefined
    : {
        code: 'permission_denied',
        param: 'model',
        message: `The data rules of this workspace allow no provider of the model '${model.id}'.`,
      };
}
