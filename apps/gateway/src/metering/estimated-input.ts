import type { Call } from '../call.ts';
import { tokensOf } from './final-usage.ts';

type Body = Readonly<Record<string, unknown>>;

/** Contents stand in messages, parts in contents, results of tools in parts. */
const MAX_DEPTH = 6;

/**
 * Input tokens of a call that nobody counted: what was expected of it, but at least a token for 4 characters of its
 * own text. The expectation alone is learnt from the caller's earlier calls, which padding can teach that text is
 * next to free.
 *
 * @param expected what the reservation held for input.
 */
export function estimatedInput(expected: number, body: Body): number {
  return Math.max(expected, textTokens(body));
}

/**
 * Input tokens of a call by its reservation and its text, also after its body was forgotten. A count of tokens has
 * none: it generates nothing and is free.
 */
export function expectedInput({ operation, reservation, forgotten, resolved }: Call): number {
  if (operation === 'count_tokens') return 0;
  const expected = reservation?.inputTokens ?? 0;
  if (forgotten !== undefined) return Math.max(expected, forgotten.textTokens);
  if (resolved === undefined) return expected;
  const { body, large } = resolved.inbound;
  return large === undefined ? estimatedInput(expected, body) : Math.max(expected, large.facts.textTokens);
}

/** Tokens that the text of a body comes to, at 4 characters each. */
export function textTokens({ system, messages, input, instructions }: Body): number {
  return tokensOf(
    textChars(system, MAX_DEPTH) +
      textChars(messages, MAX_DEPTH) +
      textChars(input, MAX_DEPTH) +
      textChars(instructions, MAX_DEPTH),
  );
}

/** Characters of text; images, files and unknown members count nothing. */
function textChars(value: unknown, depth: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || depth === 0) return 0;
  if (!Array.isArray(value)) {
    const { content, text } = value as { content?: unknown; text?: unknown };
    return textChars(content, depth - 1) + textChars(text, depth - 1);
  }
  let chars = 0;
  for (const item of value as readonly unknown[]) chars += textChars(item, depth - 1);
  return chars;
}
