import type { ServedUse } from '@sluice/contracts';
import { servedOf, tierOf } from '@sluice/providers';
import { promptParts } from '@sluice/routing';

type Body = Readonly<Record<string, unknown>>;

const HOUR = '1h';
/** Contents stand in messages, parts in contents, parts in the results of tools. */
const MAX_DEPTH = 4;
/** Tools of these kinds run at the caller, whatever version follows the name. */
const CALLERS_TOOLS = /^(function|custom|bash|text_editor|computer|memory)(_\d{8})?$/;
const VERSION = /_\d{8}$/;
const NO_NAME = /[^a-z0-9_]/g;
const MAX_NAME = 64;

/**
 * What a body asks for that has a price of its own, with 1 for every count that is not known yet; undefined for an
 * ordinary call.
 */
export function askedUse(body: Body): ServedUse | undefined {
  const modalities: readonly unknown[] = Array.isArray(body.modalities) ? body.modalities : [];
  const hears = promptParts(body.messages, body.input).audio || modalities.includes('audio');
  return servedOf({
    tier: tierOf({ service: body.service_tier, speed: body.speed, geo: body.inference_geo }),
    cache_write_1h: keepsForAnHour(body) ? 1 : undefined,
    audio_input: hears ? 1 : undefined,
    image_input: undefined,
    image_output: modalities.includes('image') ? 1 : undefined,
    tools: askedTools(body),
  });
}

/**
 * What was served, with the searches that some providers do not count: one for a call that asked for them. What was
 * asked for says nothing of the rest.
 */
export function withAskedTools(served: ServedUse | undefined, asked: ServedUse | undefined): ServedUse | undefined {
  const uncounted = asked?.tools?.[UNCOUNTED];
  if (uncounted === undefined || served?.tools !== undefined) return served;
  return { ...served, tools: { [UNCOUNTED]: uncounted } };
}

/** What is asked for is used only where it was answered, but for the tier, which holds from the beginning. */
export function tierOnly(asked: ServedUse | undefined): ServedUse | undefined {
  return asked?.tier === undefined ? undefined : { tier: asked.tier };
}

/** Asked for by a member of the body, rather than as a tool. */
const UNCOUNTED = 'web_search_options';

function askedTools({ tools, web_search_options: options, search_parameters: search }: Body): Record<string, number> {
  const asked: Record<string, number> = {};
  if (isObject(options)) asked[UNCOUNTED] = 1;
  if (isObject(search) && search.mode !== 'off') asked.live_search = 1;
  for (const tool of Array.isArray(tools) ? (tools as readonly unknown[]) : []) {
    const type = isObject(tool) ? tool.type : undefined;
    if (typeof type !== 'string' || CALLERS_TOOLS.test(type)) continue;
    asked[type.replace(VERSION, '').toLowerCase().replace(NO_NAME, '_').slice(0, MAX_NAME)] = 1;
  }
  return asked;
}

function keepsForAnHour({ cache_control: own, tools, system, messages }: Body): boolean {
  return isHour(own) || marked(tools, 1) || marked(system, 1) || marked(messages, MAX_DEPTH);
}

function marked(value: unknown, depth: number): boolean {
  if (!Array.isArray(value) || depth === 0) return false;
  return (value as readonly unknown[]).some(
    (item) => isObject(item) && (isHour(item.cache_control) || marked(item.content, depth - 1)),
  );
}

function isHour(control: unknown): boolean {
  return isObject(control) && control.ttl === HOUR;
}

function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
