import { inputTokens, outputTokens, type TokenUsage, zeroUsage } from '@sluice/contracts';
import type { Json } from '../carrier.ts';

const CHARS_PER_TOKEN = 4;

/** Where a provider gave no count: what is expected of the input and what the text comes to, as it is billed. */
export function guessedUsage(input: number, outputChars: number): TokenUsage {
  return { ...zeroUsage(), input, output: Math.ceil(outputChars / CHARS_PER_TOKEN) };
}

/** Disjoint classes as OpenAI reports them: each sum holds its details. */
export function openaiUsageOf(usage: TokenUsage): Json {
  const prompt = inputTokens(usage);
  const completion = outputTokens(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usage.cache_read, cache_write_tokens: usage.cache_write, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoning, audio_tokens: usage.audio },
  };
}
