/** A count as providers send it: a whole number of at least 0. Anything else (absent, negative, text) is undefined, never 0. */
export function tokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** A JSON object among unknown values. */
export function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}

/** Length of a text among unknown values; 0 for anything else. */
export function textLength(value: unknown): number {
  return typeof value === 'string' ? value.length : 0;
}
