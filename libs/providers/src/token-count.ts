/** More tokens than this in one class of one call is nonsense: hundreds of times the largest context that exists. */
const MAX_TOKENS = 1_000_000_000;

/**
 * A count as providers send it: a whole number from 0 to a billion. Anything else (absent, negative, text) is
 * undefined, never 0.
 */
export function tokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS ? value : undefined;
}

/**
 * A count that providers leave out where it does not apply: absent and null are 0; undefined when it is there and
 * senseless.
 */
export function partCount(value: unknown): number | undefined {
  return value === undefined || value === null ? 0 : tokenCount(value);
}

/** A JSON object among unknown values. */
export function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

/**
 * Characters of which each is about three quarters of a token: CJK radicals and everything above them in the basic
 * plane, and halves of emoji.
 */
const WIDE = /[\u2E80-\uFFFF]/;
const WIDE_FROM = 0x2e80;
/** A token is estimated for four characters of other text. */
const WIDE_WEIGHT = 3;

/**
 * Length of a text among unknown values for estimates of tokens, in characters of Latin text; 0 for anything else.
 * A wide character counts for three, because Chinese, Japanese and Korean have hardly more than one character to a
 * token.
 */
export function textLength(value: unknown): number {
  if (typeof value !== 'string') return 0;
  if (!WIDE.test(value)) return value.length;
  let length = value.length;
  for (let i = 0; i < value.length; i += 1) if (value.charCodeAt(i) >= WIDE_FROM) length += WIDE_WEIGHT - 1;
  return length;
}
