import { asArray, type Carrier, isUnset, type Json } from '../carrier.ts';

/** As many marks of the cache as Anthropic takes in a request. */
const MAX_MARKS = 4;

/**
 * Leaves the last four marks of the cache, in Anthropic's order of tools, system and messages, because a request with
 * more is refused there. A mark keeps everything before it, so the last ones keep most; the caller is told.
 */
export function limitCacheMarks(fields: Record<string, unknown>, carrier: Carrier): void {
  const places = ['tools', 'system', 'messages'].filter((key) => fields[key] !== undefined);
  const excess = { left: places.reduce((sum, key) => sum + marksIn(fields[key]), 0) - MAX_MARKS };
  if (excess.left <= 0) return;
  carrier.drop('cache_control');
  for (const key of places) fields[key] = without(fields[key], excess);
}

function marksIn(value: unknown): number {
  let marks = 0;
  for (const item of (asArray(value) ?? []) as readonly Json[])
    marks += marksIn(item.content) + (isUnset(item.cache_control) ? 0 : 1);
  return marks;
}

/** The value without its first marks. @param excess how many are still too many. */
function without(value: unknown, excess: { left: number }): unknown {
  return !Array.isArray(value) ? value : value.map((item: Json) => bare(item, excess));
}

function bare(item: Json, excess: { left: number }): Json {
  if (excess.left <= 0) return item;
  const inner = item.content === undefined ? {} : { content: without(item.content, excess) };
  const { cache_control, ...rest } = item;
  if (isUnset(cache_control) || excess.left <= 0) return { ...item, ...inner };
  excess.left -= 1;
  return { ...rest, ...inner };
}
