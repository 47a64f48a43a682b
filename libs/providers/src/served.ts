import type { ServedUse } from '@sluice/contracts';
import { asObject } from './token-count.ts';

/** Words for being served the standard way, at the price that a model has by itself. */
const STANDARD: ReadonlySet<unknown> = new Set([
  undefined,
  null,
  '',
  'default',
  'standard',
  'standard_only',
  'auto',
  'on_demand',
  'global',
  'not_available',
  'normal',
]);
const MAX_WORD = 20;

/**
 * How a call is served, or asked to be, by one name; undefined for the standard way.
 *
 * @param words `service`: `service_tier`. `speed`: Anthropic's. `geo`: where its inference is bound to run.
 */
export function tierOf(words: {
  readonly service?: unknown;
  readonly speed?: unknown;
  readonly geo?: unknown;
}): string | undefined {
  const parts: string[] = [];
  if (isSpecial(words.service)) parts.push(words.service.slice(0, MAX_WORD));
  if (isSpecial(words.speed)) parts.push(words.speed.slice(0, MAX_WORD));
  if (isSpecial(words.geo)) parts.push(`geo-${words.geo.slice(0, MAX_WORD - 4)}`);
  return parts.length === 0 ? undefined : parts.join('+');
}

function isSpecial(word: unknown): word is string {
  return typeof word === 'string' && !STANDARD.has(word);
}

/** Without what is zero or was not told; undefined when nothing is left. */
export function servedOf(parts: {
  readonly [Name in keyof ServedUse]: ServedUse[Name] | undefined;
}): ServedUse | undefined {
  const { tier, tools, ...counts } = parts;
  const served: ServedUse = {};
  if (tier !== undefined) served.tier = tier;
  for (const name of ['cache_write_1h', 'audio_input', 'image_input', 'image_output'] as const) {
    const count = counts[name];
    if (count !== undefined && count > 0) served[name] = count;
  }
  if (tools !== undefined && Object.keys(tools).length > 0) served.tools = { ...tools };
  return Object.keys(served).length === 0 ? undefined : served;
}

/** Every member with this ending, by its name without it. */
export function addAll(value: unknown, ending: string, add: (name: string, value: unknown) => void): void {
  const counts = asObject(value);
  if (counts === undefined) return;
  for (const key of Object.keys(counts)) if (key.endsWith(ending)) add(key.slice(0, -ending.length), counts[key]);
}
