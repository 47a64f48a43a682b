import type { TokenUsage } from '@sluice/contracts';
import { asObject, partCount, tokenCount } from '../token-count.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Usage of OpenAI, and of those who speak its protocol, in disjoint classes.
 *
 * - `prompt_tokens` includes cached, cache-written and audio tokens; each is taken out of it. Vendors have several
 *   words for one thing (DeepSeek's `prompt_cache_hit_tokens`, Moonshot's `cached_tokens` beside the details), so the
 *   largest of them counts.
 * - `completion_tokens` includes reasoning and audio tokens, but not with every vendor. What `total_tokens` has beyond
 *   prompt and completion was generated too, and is reasoning: xAI reports it beside the completion, Gemini's
 *   compatible interface only in the total.
 * - Audio heard and audio spoken are one class. Predicted tokens, accepted and rejected, are billed as completion
 *   tokens and stay `output`; so do image tokens, heard and made.
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
  const cached = largest(promptDetails?.cached_tokens, usage.prompt_cache_hit_tokens, usage.cached_tokens);
  const written = largest(
    promptDetails?.cache_write_tokens,
    promptDetails?.cache_creation_tokens,
    usage.cache_creation_input_tokens,
  );
  const heard = partCount(promptDetails?.audio_tokens);
  const reported = partCount(completionDetails?.reasoning_tokens);
  const spoken = partCount(completionDetails?.audio_tokens);
  if (
    prompt === undefined ||
    completion === undefined ||
    cached === undefined ||
    written === undefined ||
    heard === undefined ||
    reported === undefined ||
    spoken === undefined
  )
    return undefined;
  const beyond = beyondCompletion(usage, prompt, completion);
  const reasoning = reported === 0 || reported < beyond ? Math.max(reported, beyond) : reported;
  const input = prompt - cached - written - heard;
  const output = completion + beyond - reasoning - spoken;
  if (input < 0 || output < 0) return undefined;
  return { input, cache_read: cached, cache_write: written, output, reasoning, audio: heard + spoken };
}

/** What the total holds beside prompt and completion; 0 where no completion or no total is told. */
function beyondCompletion(usage: Json, prompt: number, completion: number): number {
  if (usage.completion_tokens === undefined || usage.completion_tokens === null) return 0;
  return Math.max(0, (tokenCount(usage.total_tokens) ?? 0) - prompt - completion);
}

/** The largest of several words for one count; undefined when one of them is senseless. */
function largest(...values: readonly unknown[]): number | undefined {
  let most = 0;
  for (const value of values) {
    const count = partCount(value);
    if (count === undefined) return undefined;
    most = Math.max(most, count);
  }
  return most;
}
