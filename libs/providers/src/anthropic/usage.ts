import type { TokenUsage } from '@sluice/contracts';
import { asObject, tokenCount } from '../token-count.ts';

/** Anthropic's usage: its classes are disjoint already. Undefined when the counts are absent or impossible. */
export function anthropicUsage(value: unknown): TokenUsage | undefined {
  const usage = asObject(value);
  if (usage === undefined) return undefined;
  const input = tokenCount(usage.input_tokens);
  const output = usage.output_tokens === undefined ? 0 : tokenCount(usage.output_tokens);
  if (input === undefined || output === undefined) return undefined;
  return {
    input,
    cache_read: tokenCount(usage.cache_read_input_tokens) ?? 0,
    cache_write: tokenCount(usage.cache_creation_input_tokens) ?? 0,
    output,
    reasoning: 0,
    audio: 0,
  };
}
