import {
  inputTokens,
  outputTokens,
  type AbortCase,
  type StreamReader,
  type TokenUsage,
  type UsageSource,
} from '@sluice/contracts';

/** Characters of text per token where only text is known. */
const CHARS_PER_TOKEN = 4;

export interface SeenAnswer {
  /** What the provider reported so far; undefined when nothing. */
  readonly usage: TokenUsage | undefined;
  readonly outputChars: number;
  /** `outputChars` when the provider reported `usage`. */
  readonly countedChars: number;
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
 * - Complete: the provider's usage, explicit zeros too; where it gave none, the estimate of what passed. A count that
 *   came before more content is not the final one: the larger of it and the estimate.
 * - Partial: the provider's usage where it had finished; else its input where known, and the larger of its output count
 *   and the estimate of what passed, because a count made at the stream's start says nothing of its end.
 * - Given up before any content: the input, by the provider's count where it gave one.
 * - No bytes, because the provider failed: zero.
 *
 * @param expectedInput asked only where the provider's count has no input.
 */
export function finalUsage(seen: SeenAnswer, expectedInput: () => number): FinalUsage {
  if (!seen.ended && seen.outputChars === 0) return seen.givenUp ? givenUp(seen.usage, expectedInput) : NOTHING;
  const abortCase = seen.ended ? 'complete' : 'partial';
  if (seen.usage === undefined)
    return { abortCase, usage: estimate(expectedInput(), seen.outputChars), usageSource: 'estimate' };
  const isFinal = seen.outputChars <= seen.countedChars && (seen.ended || seen.finished);
  return isFinal
    ? { abortCase, usage: seen.usage, usageSource: 'provider' }
    : { abortCase, usage: atLeast(seen.usage, seen.outputChars, expectedInput), usageSource: 'estimate' };
}

/** What a stream's reader knows by now. */
export function seenOf({
  usage,
  outputChars,
  countedChars,
}: StreamReader): Pick<SeenAnswer, 'usage' | 'outputChars' | 'countedChars'> {
  return { usage, outputChars, countedChars };
}

/** A count from the middle of an answer, and what passed where that is more. */
function atLeast(counted: TokenUsage, outputChars: number, expectedInput: () => number): TokenUsage {
  const missing = Math.max(0, tokensOf(outputChars) - outputTokens(counted));
  return {
    ...counted,
    input: inputTokens(counted) === 0 ? expectedInput() : counted.input,
    output: counted.output + missing,
  };
}

const NOTHING: FinalUsage = { abortCase: 'no_bytes', usage: estimate(0, 0), usageSource: 'none' };

/** What a call comes to of which nothing arrived, given up while a provider was at work. */
export function givenUp(reported: TokenUsage | undefined, expectedInput: () => number): FinalUsage {
  return reported === undefined
    ? { abortCase: 'given_up', usage: estimate(expectedInput(), 0), usageSource: 'estimate' }
    : { abortCase: 'given_up', usage: reported, usageSource: 'provider' };
}

/** An estimate from text alone. */
export function tokensOf(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

function estimate(input: number, outputChars: number): TokenUsage {
  return { input, cache_read: 0, cache_write: 0, output: tokensOf(outputChars), reasoning: 0, audio: 0 };
}
