/** More tokens than this in one class of one call is nonsense: hundreds of times the largest context that exists. */
const MAX_TOKENS = 1_000_000_000;

/** A count as providers send it: a whole number from 0 to a billion. Anything else (absent, negative, text) is undefined, never 0. */
export function tokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS ? value : undefined;
}

/** A count that providers leave out where it does not apply: absent and null are 0; undefined when it is there and senseless. */
export function partCount(value: unknown): number | undefined {
  return value === undefined || value === null ? 0 : tokenCount(value);
}

/** A JSON object among unknown values. */
export function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}

/** Length of a text among unknown values; 0 for anything else. */
export function textLength(value: unknown): number {
  return typeof value === 'string' ? value.length : 0;
}
