export interface RetryDelayInput {
  /** How many attempts have failed; 1 before the first retry. */
  readonly attempt: number;
  readonly baseDelayMs: number;
  /** Upper bound of the backoff and of the provider's own wish. */
  readonly maxDelayMs: number;
  /** What the provider asked for, milliseconds; it is honoured up to `maxDelayMs`. */
  readonly retryAfterMs?: number | undefined;
  /** Until the call's deadline. */
  readonly remainingMs: number;
  /** A number in [0, 1). */
  readonly random: () => number;
}

/**
 * How long to wait before the next attempt, whole milliseconds: full jitter (Brooker, AWS, 2015), that is, evenly
 * between 0 and base × 2^(attempt - 1), and never less than the provider asked for. `undefined` when the deadline would
 * pass meanwhile.
 */
export function nextDelay({
  attempt,
  baseDelayMs,
  maxDelayMs,
  retryAfterMs,
  remainingMs,
  random,
}: RetryDelayInput): number | undefined {
  const ceiling = Math.min(maxDelayMs, baseDelayMs * 2 ** (attempt - 1));
  const asked = Math.min(maxDelayMs, Math.max(0, retryAfterMs ?? 0));
  const delay = Math.ceil(Math.max(asked, Math.floor(random() * ceiling)));
  return delay < remainingMs ? delay : undefined;
}

/** No provider's wish is read as more than a day. */
const MAX_RETRY_AFTER_MS = 86_400_000;

export type HeaderValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * What a provider asks for: `retry-after-ms`, else `retry-after` as seconds (fractions allowed) or as an HTTP date.
 * Milliseconds from now, 0 to one day; `undefined` when absent or unreadable.
 *
 * @param headers names in lower case.
 * @param nowMs epoch milliseconds, for dates.
 */
export function parseRetryAfter(headers: HeaderValues, nowMs: number): number | undefined {
  const milliseconds = decimal(first(headers['retry-after-ms']));
  if (milliseconds !== undefined) return clamp(milliseconds);
  const text = first(headers['retry-after']);
  if (text === undefined) return undefined;
  const seconds = decimal(text);
  if (seconds !== undefined) return clamp(seconds * 1000);
  const date = HTTP_DATE.test(text.trim()) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? undefined : clamp(date - nowMs);
}

/** A date of RFC 9110 begins with the day's name; `Date.parse` alone would also take "-5" for a year. */
const HTTP_DATE = /^(mon|tue|wed|thu|fri|sat|sun)/i;

function first(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0];
}

function decimal(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

function clamp(ms: number): number {
  return Math.min(MAX_RETRY_AFTER_MS, Math.max(0, Math.ceil(ms)));
}
