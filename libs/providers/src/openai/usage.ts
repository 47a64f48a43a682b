import type { TokenUsage } from '@sluice/contracts';
import { asObject, tokenCount } from '../token-count.ts';

/**
 * OpenAI's usage in disjoint classes. `prompt_tokens` includes cached ones, `completion_tokens` includes reasoning and
 * audio ones; each is taken out of its sum. Undefined when the counts are absent or impossible.
 */
export function openaiUsage(value: unknown): TokenUsage | undefined {
  const usage = asObject(value);
  if (usage === undefined) return undefined;
  const prompt = tokenCount(usage.prompt_tokens);
  if (prompt === undefined) return undefined;
  const completion = tokenCount(usage.completion_tokens) ?? 0;
  if (usage.completion_tokens !== undefined && tokenCount(usage.completion_tokens) === undefined) return undefined;
  const cached = Math.min(tokenCount(asObject(usage.prompt_tokens_details)?.cached_tokens) ?? 0, prompt);
  const details = asObject(usage.completion_tokens_details);
  const reasoning = Math.min(tokenCount(details?.reasoning_tokens) ?? 0, completion);
  const audio = Math.min(tokenCount(details?.audio_tokens) ?? 0, completion - reasoning);
  return { input: prompt - cached, cache_read: cached, cache_write: 0, output: completion - reasoning - audio, reasoning, audio };
}
