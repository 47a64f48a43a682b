import { AUTO_MODEL, nanoUsdToDecimal, type Dialect, type Model, type Price, type Refusal } from '@sluice/contracts';
import type { CompiledConfig, CompiledKey } from '../compiled-config.ts';
import { billedPriceOf } from '../metering/pricing.ts';

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
  const named = [...config.models.values()].filter((model) => mayUse(config, key, model, nowMs));
  const auto = autoModel(named);
  const models = auto === undefined ? named : [...named, auto];
  if (dialect === 'openai') return { object: 'list', data: models.map((model) => modelBody(key, model, dialect)) };
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
    data: page.map((model) => modelBody(key, model, dialect)),
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
  const model =
    name === AUTO_MODEL
      ? autoModel([...config.models.values()].filter((one) => mayUse(config, key, one, nowMs)))
      : config.models.get(name);
  if (model === undefined || (name !== AUTO_MODEL && !mayUse(config, key, model, nowMs))) return undefined;
  return modelBody(key, model, dialect);
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

/** The choice that is left to us, as a model: as large as the largest that may answer. Its price is the one it takes. */
function autoModel(allowed: readonly Model[]): Model | undefined {
  const models = allowed.filter(({ abilities }) => abilities.includes('chat'));
  const [first] = models;
  if (first === undefined) return undefined;
  const { retirement: _retirement, releasedAt: _releasedAt, ...any } = first;
  const largest = (of: (model: Model) => number): number =>
    models.reduce((most, model) => Math.max(most, of(model)), 0);
  return {
    ...any,
    id: AUTO_MODEL,
    displayName: 'Chosen for each request',
    contextTokens: largest(({ contextTokens }) => contextTokens),
    maxOutputTokens: largest(({ maxOutputTokens }) => maxOutputTokens),
  };
}

function modelBody(key: CompiledKey, model: Model, dialect: Dialect): object {
  const { priceBook, policy } = key.workspace;
  const releasedAt = model.releasedAt ?? priceBook.effectiveFrom;
  const price = model.id === AUTO_MODEL ? undefined : billedPriceOf(priceBook, model, policy);
  const shown = { pricing: price === undefined ? null : pricingBody(price) };
  if (dialect === 'anthropic') {
    return {
      type: 'model',
      id: model.id,
      display_name: model.displayName,
      created_at: releasedAt,
      max_input_tokens: model.contextTokens,
      max_tokens: model.maxOutputTokens,
      lifecycle: model.retirement === undefined ? 'active' : 'deprecated',
      retires_at: model.retirement?.at ?? null,
      ...shown,
    };
  }
  return {
    id: model.id,
    object: 'model',
    created: Math.floor(Date.parse(releasedAt) / 1_000),
    owned_by: 'sluice',
    context_length: model.contextTokens,
    max_output_tokens: model.maxOutputTokens,
    ...shown,
  };
}

/** What the caller is billed, in dollars for a million tokens. */
function pricingBody({ inputPicoUsd, outputPicoUsd, cacheReadPicoUsd, cacheWritePicoUsd }: Price): object {
  const perMillion = (picoUsd: number): string => nanoUsdToDecimal(BigInt(picoUsd) * 1_000n);
  return {
    unit: 'usd_per_million_tokens',
    input: perMillion(inputPicoUsd),
    output: perMillion(outputPicoUsd),
    cache_read: perMillion(cacheReadPicoUsd ?? inputPicoUsd),
    cache_write: perMillion(cacheWritePicoUsd ?? inputPicoUsd),
  };
}
