import type { TokenUsage } from '@sluice/contracts';
import type { Json } from '../carrier.ts';

const CHARS_PER_TOKEN = 4;

/** Disjoint classes as Anthropic reports them. */
export function anthropicUsageOf(usage: TokenUsage): Json {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cache_write,
    cache_read_input_tokens: usage.cache_read,
    output_tokens: usage.output + usage.reasoning + usage.audio,
    ...(usage.reasoning === 0 ? {} : { output_tokens_details: { thinking_tokens: usage.reasoning } }),
  };
}

/** Where a provider gave no count: Anthropic's clients read a number, so they get what is expected and billed. */
export function guessedUsage(input: number, outputChars: number): Json {
  return {
    input_tokens: input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: Math.ceil(outputChars / CHARS_PER_TOKEN),
  };
}
