import { inputTokens, type Model, type ServedUse, type TokenUsage } from '@sluice/contracts';
import { tokensOf, type FinalUsage } from './final-usage.ts';

/** Tokens that a provider adds to what is sent: a template's marks, the instructions of its tools. */
const ADDED_TOKENS = 4_096;
/** A token of text is hardly ever less than a quarter of a character. */
const TOKENS_PER_CHAR = 4;
/** Uses of tools in one call; more are a mistake. */
const MAX_TOOL_USES = 1_000;
/** Of a call whose tools run at the provider, each use may have read the whole context once more, up to this often. */
const MAX_ROUNDS = 50;

/** What is known of a call by which a count can be judged. */
export interface CallBounds {
  /** Undefined for a model that has left the catalogue. */
  readonly model: Pick<Model, 'contextTokens' | 'maxOutputTokens'> | undefined;
  readonly isEmbedding: boolean;
  readonly choices: number;
  readonly bodyBytes: number;
  /** Asked seldom, because it reads the body: it names input that is not in its bytes (images, files, tools that search), or output that is not sent. */
  readonly isOpaque: () => boolean;
  /** Characters of text that came. */
  readonly outputChars: number;
}

/**
 * The figures of an answer, without what cannot be. Where one side of a provider's count is more than the model's
 * context or largest output, or far more than the bytes that were seen, the estimate stands for that side, and the
 * source says `bounded`: a wrong count is nobody's bill, and uses up nobody's quota.
 */
export function plausible(
  final: FinalUsage,
  served: ServedUse | undefined,
  bounds: CallBounds,
  expectedInput: () => number,
): { readonly final: FinalUsage; readonly served: ServedUse | undefined } {
  const { usage } = final;
  const uses = Object.values(served?.tools ?? {}).reduce((sum, count) => sum + count, 0);
  const badTools = uses > MAX_TOOL_USES;
  const badInput = inputTokens(usage) > mostInput(bounds, inputTokens(usage), uses);
  const badOutput = isTooMuchOutput(usage, served, bounds, uses);
  if (!badInput && !badOutput && !badTools) return { final, served };
  const bounded: TokenUsage = { ...usage };
  if (badInput) Object.assign(bounded, { input: expectedInput(), cache_read: 0, cache_write: 0 });
  if (badOutput) Object.assign(bounded, { output: tokensOf(bounds.outputChars), reasoning: 0, audio: 0 });
  return {
    final: { ...final, usage: bounded, usageSource: 'bounded' },
    served: served?.tier === undefined ? undefined : { tier: served.tier },
  };
}

function mostInput({ model, isEmbedding, bodyBytes, isOpaque }: CallBounds, tokens: number, uses: number): number {
  // Each text of a batch may fill the context.
  if (isEmbedding) return bodyBytes + ADDED_TOKENS;
  const byContext = (model?.contextTokens ?? Infinity) * (1 + Math.min(uses, MAX_ROUNDS));
  const byBytes = bodyBytes + ADDED_TOKENS;
  if (uses > 0 || tokens <= byBytes || byContext <= byBytes) return byContext;
  return isOpaque() ? byContext : byBytes;
}

function isTooMuchOutput(
  { output, reasoning, audio }: TokenUsage,
  served: ServedUse | undefined,
  { model, choices, isOpaque, outputChars }: CallBounds,
  uses: number,
): boolean {
  const most = (model?.maxOutputTokens ?? Infinity) * choices * (1 + Math.min(uses, MAX_ROUNDS));
  if (output + reasoning + audio - (served?.audio_input ?? 0) > most) return true;
  // Reasoning may be hidden altogether, speech and images are no text.
  const text = output - (served?.image_output ?? 0);
  return text > outputChars * TOKENS_PER_CHAR + ADDED_TOKENS && !isOpaque();
}
