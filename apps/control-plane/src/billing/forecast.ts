const DAY_MS = 86_400_000;
/** Two-sided 80 % of a normal distribution. */
const Z80 = 1.2816;

export interface ForecastInput {
  readonly nowMs: number;
  readonly monthStartMs: number;
  readonly monthEndMs: number;
  readonly usedTokens: number;
  /** Tokens of the newest complete days, at most 14; days without a call are zeros. */
  readonly days: readonly number[];
}

export interface TokenForecast {
  readonly method: string;
  readonly low: number;
  readonly expected: number;
  readonly high: number;
  /** Tokens a day that the expectation goes on with. */
  readonly perDay: number;
}

/**
 * Tokens at the month's end: what is used, and for each day that is left the mean of the newest complete days. The
 * range is 1.28 standard deviations of a sum of that many days, 80 % if days were independent and normal. Without a
 * complete day the month's own rate so far stands in, from zero to twice that; undefined in its first hour.
 */
export function forecastTokens({
  nowMs,
  monthStartMs,
  monthEndMs,
  usedTokens,
  days,
}: ForecastInput): TokenForecast | undefined {
  const daysLeft = Math.max(0, monthEndMs - nowMs) / DAY_MS;
  if (days.length === 0) {
    const passed = (nowMs - monthStartMs) / DAY_MS;
    if (passed < 1 / 24) return undefined;
    const perDay = usedTokens / passed;
    return {
      method: 'At the rate of the month so far; the range is from no further use to twice that rate.',
      ...rounded(usedTokens, perDay * daysLeft, perDay * daysLeft),
      perDay,
    };
  }
  const perDay = days.reduce((sum, tokens) => sum + tokens, 0) / days.length;
  const variance =
    days.length < 2 ? perDay ** 2 : days.reduce((sum, tokens) => sum + (tokens - perDay) ** 2, 0) / (days.length - 1);
  return {
    method: `Used so far, and the mean of the last ${days.length} complete ${days.length === 1 ? 'day' : 'days'} for each day left; the range holds 80 % if days vary as they did.`,
    ...rounded(usedTokens, perDay * daysLeft, Z80 * Math.sqrt(variance * daysLeft)),
    perDay,
  };
}

function rounded(used: number, more: number, range: number): { low: number; expected: number; high: number } {
  return {
    low: Math.round(used + Math.max(0, more - range)),
    expected: Math.round(used + more),
    high: Math.round(used + more + range),
  };
}
