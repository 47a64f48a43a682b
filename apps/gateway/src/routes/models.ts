import type { Dialect, Model } from '@sluice/contracts';
import type { CompiledConfig, CompiledKey } from '../compiled-config.ts';

/** The models that a key may use, in the shape of the caller's dialect; one page always. */
export function listModels(config: CompiledConfig, key: CompiledKey, dialect: Dialect, nowMs: number): object {
  const models = [...config.models.values()].filter((model) => mayUse(config, key, model, nowMs));
  const data = models.map((model) => modelBody(model, dialect));
  if (dialect === 'openai') return { object: 'list', data };
  return { data, has_more: false, first_id: models[0]?.id ?? null, last_id: models.at(-1)?.id ?? null };
}

/** One of those; undefined when it does not exist or the key may not use it. */
export function findListedModel(config: CompiledConfig, key: CompiledKey, id: string, dialect: Dialect, nowMs: number): object | undefined {
  const { aliases } = key.workspace.policy.routing;
  const model = config.models.get(Object.hasOwn(aliases, id) ? (aliases[id] as string) : id);
  return model !== undefined && mayUse(config, key, model, nowMs) ? modelBody(model, dialect) : undefined;
}

function mayUse(config: CompiledConfig, key: CompiledKey, model: Model, nowMs: number): boolean {
  const { allowModels, chain } = key.workspace.policy.routing;
  if (allowModels?.includes(model.id) === false || key.record.allowModels?.includes(model.id) === false) return false;
  if (model.retirement !== undefined && Date.parse(model.retirement.at) <= nowMs) return false;
  return model.offers.some((offer) => config.providers.get(offer.provider)?.enabled === true && chain.some((link) => link.provider === offer.provider));
}

function modelBody(model: Model, dialect: Dialect): object {
  if (dialect === 'anthropic') return { type: 'model', id: model.id, display_name: model.displayName, created_at: '1970-01-01T00:00:00Z' };
  return { id: model.id, object: 'model', created: 0, owned_by: 'sluice' };
}
