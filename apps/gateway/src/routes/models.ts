import { AUTO_MODEL, type Dialect, type Model, type Refusal } from '@sluice/contracts';
import type { CompiledConfig, CompiledKey } from '../compiled-config.ts';

/** As Anthropic's list has it. */
const DEFAULT_PAGE = 20;
const MAX_PAGE = 1_000;

/** Where a page of the list begins and how long it is, as the query says it. */
export interface PageQuery {
  readonly limit?: unknown;
  readonly after_id?: unknown;
  readonly before_id?: unknown;
}

/**
 * The models that a key may use, in the shape of the caller's dialect: OpenAI's list is one page always,
 * Anthropic's is paged.
 */
export function listModels(
  config: CompiledConfig,
  key: CompiledKey,
  dialect: Dialect,
  nowMs: number,
  query: PageQuery = {},
): object | Refusal {
  const models = [...config.models.values()].filter((model) => mayUse(config, key, model, nowMs));
  if (dialect === 'openai') return { object: 'list', data: models.map((model) => modelBody(model, dialect)) };
  const limit =
    query.limit === undefined ? DEFAULT_PAGE : /^\d{1,4}$/.test(String(query.limit)) ? Number(query.limit) : 0;
  if (limit < 1 || limit > MAX_PAGE)
    return { code: 'invalid_value', param: 'limit', message: `'limit' must be a whole number from 1 to ${MAX_PAGE}.` };
  const cursor = query.after_id === undefined ? 'before_id' : 'after_id';
  const at = query[cursor] === undefined ? undefined : models.findIndex((model) => model.id === query[cursor]);
  if (at === -1)
    return { code: 'invalid_value', param: cursor, message: `'${cursor}' must be the id of a model of this list.` };
  const from = at === undefined ? 0 : cursor === 'after_id' ? at + 1 : Math.max(0, at - limit);
  const to = at === undefined || cursor === 'after_id' ? from + limit : at;
  const page = models.slice(from, to);
  const hasMore = at === undefined || cursor === 'after_id' ? to < models.length : from > 0;
  return {
    data: page.map((model) => modelBody(model, dialect)),
    has_more: hasMore,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

/** One of those, or what `auto` comes to; undefined when it does not exist or the key may not use it. */
export function findListedModel(
  config: CompiledConfig,
  key: CompiledKey,
  id: string,
  dialect: Dialect,
  nowMs: number,
): object | undefined {
  const { aliases } = key.workspace.policy.routing;
  const name = Object.hasOwn(aliases, id) ? (aliases[id] as string) : id;
  if (name === AUTO_MODEL)
    return autoBody(
      [...config.models.values()].filter(
        (model) => model.abilities.includes('chat') && mayUse(config, key, model, nowMs),
      ),
      dialect,
    );
  const model = config.models.get(name);
  return model !== undefined && mayUse(config, key, model, nowMs) ? modelBody(model, dialect) : undefined;
}

function mayUse(config: CompiledConfig, key: CompiledKey, model: Model, nowMs: number): boolean {
  const { allowModels, chain } = key.workspace.policy.routing;
  if (allowModels?.includes(model.id) === false || key.record.allowModels?.includes(model.id) === false) return false;
  if (model.retirement !== undefined && Date.parse(model.retirement.at) <= nowMs) return false;
  return model.offers.some(
    (offer) =>
      config.providers.get(offer.provider)?.enabled === true && chain.some((link) => link.provider === offer.provider),
  );
}

/** The choice that is left to us, as a model: as large as the largest that may answer. */
function autoBody(models: readonly Model[], dialect: Dialect): object | undefined {
  const [first] = models;
  if (first === undefined) return undefined;
  const { retirement: _retirement, ...any } = first;
  const largest = (of: (model: Model) => number): number =>
    models.reduce((most, model) => Math.max(most, of(model)), 0);
  return modelBody(
    {
      ...any,
      id: AUTO_MODEL,
      displayName: 'Chosen for each request',
      contextTokens: largest(({ contextTokens }) => contextTokens),
      maxOutputTokens: largest(({ maxOutputTokens }) => maxOutputTokens),
    },
    dialect,
  );
}

function modelBody(model: Model, dialect: Dialect): object {
  if (dialect === 'anthropic') {
    return {
      type: 'model',
      id: model.id,
      display_name: model.displayName,
      created_at: '1970-01-01T00:00:00Z',
      max_input_tokens: model.contextTokens,
      max_tokens: model.maxOutputTokens,
      lifecycle: model.retirement === undefined ? 'active' : 'deprecated',
      retires_at: model.retirement?.at ?? null,
    };
  }
  return { id: model.id, object: 'model', created: 0, owned_by: 'sluice' };
}
