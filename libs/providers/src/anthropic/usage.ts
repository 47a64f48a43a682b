import type { TokenUsage } from '@sluice/contracts';
import { asObject, partCount, tokenCount } from '../token-count.ts';

/**
 * Anthropic's usage: its classes are disjoint already (`input_tokens` leaves cached ones out). Writes to the cache
 * are one class, whatever their lifetime; where only the breakdown by lifetime is given, its sum. Uses of server
 * tools are no tokens and are not counted here.
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
  if (input === undefined || output === undefined || cacheRead === undefined || cacheWrite === undefined)
    return undefined;
  return { input, cache_read: cacheRead, cache_write: cacheWrite, output, reasoning: 0, audio: 0 };
}

function cacheWrites(usage: Readonly<Record<string, unknown>>): number | undefined {
  if (usage.cache_creation_input_tokens !== undefined && usage.cache_creation_input_tokens !== null)
    return tokenCount(usage.cache_creation_input_tokens);
  const breakdown = asObject(usage.cache_creation);
  const short = partCount(breakdown?.ephemeral_5m_input_tokens);
  const long = partCount(breakdown?.ephemeral_1h_input_tokens);
  return short === undefined || long === undefined ? undefined : short + long;
}
