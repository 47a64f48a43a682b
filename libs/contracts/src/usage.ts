import { z } from 'zod';

/**
 * Disjoint token classes: a token is counted in exactly one. `input` excludes cached tokens; `output`
 * excludes reasoning and audio tokens. Adapters normalise what a provider reports into these.
 */
export const TOKEN_CLASSES = ['input', 'cache_read', 'cache_write', 'output', 'reasoning', 'audio'] as const;
export type TokenClass = (typeof TOKEN_CLASSES)[number];

const tokens = z.int().min(0);
export const TokenUsage = z.object({
  input: tokens,
  cache_read: tokens,
  cache_write: tokens,
  output: tokens,
  reasoning: tokens,
  audio: tokens,
});
export type TokenUsage = z.infer<typeof TokenUsage>;

/**
 * What of a call's use has a price of its own within its token classes, or beside them. Absent for a call that has
 * nothing of the kind.
 */
export const ServedUse = z.object({
  /**
   * How it was served, where that is not the standard way: the provider's word for its tier (`priority`, `flex`,
   * `batch`), its speed (`fast`) or its place (`geo-us`); several are joined by `+` in this order.
   */
  tier: z.string().min(1).max(64).optional(),
  /** Of `cache_write`: what is kept for an hour. */
  cache_write_1h: tokens.optional(),
  /** Of `audio`: what was heard, rather than spoken. */
  audio_input: tokens.optional(),
  /** Of `input`. */
  image_input: tokens.optional(),
  /** Of `output`. */
  image_output: tokens.optional(),
  /** Uses of tools that run at the provider, by name: `web_search`. */
  tools: z.record(z.string().min(1).max(64), tokens).optional(),
});
export type ServedUse = z.infer<typeof ServedUse>;

/**
 * Who counted: the provider's own figures, or our estimate where it gave none. `bounded`: the provider's figures
 * cannot be (more than the model's context or largest output, or far more than the bytes that were seen), and the
 * estimate stands in their place.
 */
export const UsageSource = z.enum(['provider', 'estimate', 'bounded', 'none']);
export type UsageSource = z.infer<typeof UsageSource>;

/** A usage of zero in every class; a new object each time. */
export function zeroUsage(): TokenUsage {
  return { input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0, audio: 0 };
}

/** Input side (fresh, cache read, cache write). */
export function inputTokens(usage: TokenUsage): number {
  return usage.input + usage.cache_read + usage.cache_write;
}

/** Output side (text, reasoning, audio). */
export function outputTokens(usage: TokenUsage): number {
  return usage.output + usage.reasoning + usage.audio;
}

/** All classes together. */
export function totalTokens(usage: TokenUsage): number {
  return inputTokens(usage) + outputTokens(usage);
}

/** Class-wise sum; a new object. */
export function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    input: a.input + b.input,
    cache_read: a.cache_read + b.cache_read,
    cache_write: a.cache_write + b.cache_write,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
    audio: a.audio + b.audio,
  };
}
