import type { ServedUse, TokenUsage } from '@sluice/contracts';
import { addAll, servedOf, tierOf } from '../served.ts';
import { asObject, partCount, tokenCount } from '../token-count.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Anthropic's usage: its classes are disjoint already (`input_tokens` leaves cached ones out). Writes to the cache
 * are one class, whatever their lifetime; where only the breakdown by lifetime is given, its sum. Thinking that is
 * counted by itself is taken out of `output_tokens`. Uses of server tools are no tokens and are not counted here.
 *
 * @returns undefined when the counts are absent, or impossible: negative, no whole number, beyond sense.
 */
export function anthropicUsage(value: unknown): TokenUsage | undefined {
  const usage = asObject(value);
  if (usage === undefined) return undefined;
  const input = tokenCount(usage.input_tokens);
  const output = partCount(usage.output_tokens);
  const cacheRead = partCount(usage.cache_read_input_tokens);
  const cacheWrite = cacheWrites(usage);
  const thinking = partCount(asObject(usage.output_tokens_details)?.thinking_tokens);
  if (
    input === undefined ||
    output === undefined ||
    cacheRead === undefined ||
    cacheWrite === undefined ||
    thinking === undefined ||
    thinking > output
  )
    return undefined;
  return {
    input,
    cache_read: cacheRead,
    cache_write: cacheWrite,
    output: output - thinking,
    reasoning: thinking,
    audio: 0,
  };
}

/** What a usage says of use that has a price of its own; undefined when it says nothing. */
export function anthropicServed(value: unknown): ServedUse | undefined {
  const usage = asObject(value);
  if (usage === undefined) return undefined;
  const tools: Record<string, number> = {};
  addAll(usage.server_tool_use, '_requests', (name, uses) => {
    const count = tokenCount(uses);
    if (count !== undefined && count > 0) tools[name] = count;
  });
  return servedOf({
    tier: tierOf({ service: usage.service_tier, speed: usage.speed, geo: usage.inference_geo }),
    cache_write_1h: tokenCount(asObject(usage.cache_creation)?.ephemeral_1h_input_tokens),
    tools,
  });
}

/**
 * Two reports of one message as one. Counts are cumulative: what a later one repeats is not added, and the larger
 * stands, because some send zeros with the end. Everything else is by the later word.
 */
export function mergeUsage(earlier: Json | undefined, later: Json | undefined): Json {
  const merged: Record<string, unknown> = { ...earlier };
  for (const key of Object.keys(later ?? {})) {
    const value = later?.[key];
    if (value === undefined || value === null) continue;
    const before = merged[key];
    const parts = asObject(value);
    if (parts !== undefined) merged[key] = mergeUsage(asObject(before), parts);
    else merged[key] = isCount(before) && isCount(value) ? Math.max(before, value) : value;
  }
  return merged;
}

/** A senseless count is none, so that it spoils the report rather than giving way to an earlier one. */
function isCount(value: unknown): value is number {
  return tokenCount(value) !== undefined;
}

function cacheWrites(usage: Json): number | undefined {
  const breakdown = asObject(usage.cache_creation);
  const short = partCount(breakdown?.ephemeral_5m_input_tokens);
  const long = partCount(breakdown?.ephemeral_1h_input_tokens);
  const total = partCount(usage.cache_creation_input_tokens);
  return short === undefined || long === undefined || total === undefined ? undefined : Math.max(total, short + long);
}
