import type { AbortCase, TokenUsage, UsageSource } from '@sluice/contracts';

/** Characters of text per token where only text is known. */
const CHARS_PER_TOKEN = 4;

export interface SeenAnswer {
  /** What the provider reported so far; undefined when nothing. */
  readonly usage: TokenUsage | undefined;
  readonly outputChars: number;
  /** The dialect's own end was seen. */
  readonly ended: boolean;
  /** The provider had finished generating, so that its count is of everything; true of every whole answer. */
  readonly finished: boolean;
  /** The caller left, or a deadline of its own or its workspace's passed. */
  readonly givenUp: boolean;
}

export interface FinalUsage {
  readonly abortCase: AbortCase;
  readonly usage: TokenUsage;
  readonly usageSource: UsageSource;
}

/**
 * The figures of an answer by the written abort policy (docs/abort-policy.md).
 *
 * - Complete: the provider's usage, explicit zeros too; where it gave none, the estimate of what passed.
 * - Partial: the provider's usage where it had finished; else its input where known, and the larger of its output count
 *   and the estimate of what passed, because a count made at the stream's start says nothing of its end.
 * - Given up before any content: the input, by the provider's count where it gave one.
 * - No bytes, because the provider failed: zero.
 */
export function finalUsage(seen: SeenAnswer, estimatedInput: number): FinalUsage {
  if (seen.ended) {
    if (seen.usage !== undefined) return { abortCase: 'complete', usage: seen.usage, usageSource: 'provider' };
    return { abortCase: 'complete', usage: estimate(estimatedInput, seen.outputChars), usageSource: 'estimate' };
  }
  if (seen.outputChars === 0) return seen.givenUp ? givenUp(seen.usage, estimatedInput) : NOTHING;
  if (seen.usage !== undefined && seen.finished)
    return { abortCase: 'partial', usage: seen.usage, usageSource: 'provider' };
  if (seen.usage === undefined)
    return { abortCase: 'partial', usage: estimate(estimatedInput, seen.outputChars), usageSource: 'estimate' };
  return {
    abortCase: 'partial',
    usage: { ...seen.usage, output: Math.max(seen.usage.output, tokensOf(seen.outputChars)) },
    usageSource: 'estimate',
  };
}

const NOTHING: FinalUsage = { abortCase: 'no_bytes', usage: estimate(0, 0), usageSource: 'none' };

/** What a call comes to of which nothing arrived, given up while a provider was at work. */
export function givenUp(reported: TokenUsage | undefined, estimatedInput: number): FinalUsage {
  return reported === undefined
    ? { abortCase: 'given_up', usage: estimate(estimatedInput, 0), usageSource: 'estimate' }
    : { abortCase: 'given_up', usage: reported, usageSource: 'provider' };
}

/** An estimate from text alone. */
export function tokensOf(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

function estimate(input: number, outputChars: number): TokenUsage {
  return { input, cache_read: 0, cache_write: 0, output: tokensOf(outputChars), reasoning: 0, audio: 0 };
}
