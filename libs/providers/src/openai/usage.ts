import type { TokenUsage } from '@sluice/contracts';
import { asObject, partCount, tokenCount } from '../token-count.ts';

/**
 * OpenAI's usage in disjoint classes. `prompt_tokens` includes cached and audio ones, `completion_tokens` reasoning
 * and audio ones; each is taken out of its sum. Audio heard and audio spoken are one class. Predicted tokens,
 * accepted and rejected, are billed as completion tokens and stay `output`.
 *
 * @returns undefined when the counts are absent, or impossible: negative, no whole number, beyond sense, or parts
 * that are more than their sum. Such figures are not half believed.
 */
export function openaiUsage(value: unknown): TokenUsage | undefined {
  const usage = asObject(value);
  if (usage === undefined) return undefined;
  const promptDetails = asObject(usage.prompt_tokens_details);
  const completionDetails = asObject(usage.completion_tokens_details);
  const prompt = tokenCount(usage.prompt_tokens);
  // Embeddings have no completion.
  const completion = partCount(usage.completion_tokens);
  const cached = partCount(promptDetails?.cached_tokens);
  const heard = partCount(promptDetails?.audio_tokens);
  const reasoning = partCount(completionDetails?.reasoning_tokens);
  const spoken = partCount(completionDetails?.audio_tokens);
  if (
    prompt === undefined ||
    completion === undefined ||
    cached === undefined ||
    heard === undefined ||
    reasoning === undefined ||
    spoken === undefined
  )
    return undefined;
  const input = prompt - cached - heard;
  const output = completion - reasoning - spoken;
  if (input < 0 || output < 0) return undefined;
  return { input, cache_read: cached, cache_write: 0, output, reasoning, audio: heard + spoken };
}
