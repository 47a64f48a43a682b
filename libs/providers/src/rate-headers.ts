import type { RateLimits, UpstreamFault } from '@sluice/contracts';
import type { AnswerHeaders } from './answer-headers.ts';

/** Headers of one kind of limit: what it is, what remains of it, and when all of it is there again. */
interface LimitHeaders {
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

const REQUESTS: readonly LimitHeaders[] = [openaiHeaders('requests'), anthropicHeaders('requests')];
const TOKENS: readonly LimitHeaders[] = [openaiHeaders('tokens'), anthropicHeaders('tokens')];
const REMAINING: readonly LimitHeaders[] = [
  ...REQUESTS,
  ...TOKENS,
  anthropicHeaders('input-tokens'),
  anthropicHeaders('output-tokens'),
];
/** Whose limit it is; some compatible providers say so. */
const SCOPE_HEADER = 'x-ratelimit-scope';
const ACCOUNT_SCOPES: readonly unknown[] = ['account', 'organization'];
/** Codes, not sentences, of an error that is about the whole account. */
const ACCOUNT_CODES: readonly unknown[] = ['account_rate_limit_exceeded', 'organization_rate_limit_exceeded'];

const MINUTE_MS = 60_000;
/** A limit is taken for one per minute when all of it comes back in about that time. */
const SHORTEST_MINUTE_MS = 45_000;
const LONGEST_MINUTE_MS = 75_000;

/**
 * Whom a refused rate concerns, as far as the provider says it itself, and when it ends. A header that says that
 * nothing remains means the model; only a scope header or an error code means the whole account.
 */
export function limitReachOf(
  headers: AnswerHeaders,
  error: Readonly<Record<string, unknown>> | undefined,
  nowMs: number,
): Pick<UpstreamFault, 'reach' | 'retryAfterMs'> {
  if (
    ACCOUNT_SCOPES.includes(headers[SCOPE_HEADER]) ||
    ACCOUNT_CODES.includes(error?.code) ||
    ACCOUNT_CODES.includes(error?.type)
  )
    return { reach: 'account' };
  const spent = REMAINING.find(({ remaining }) => numberOf(headers[remaining]) === 0);
  if (spent === undefined) return {};
  const resetMs = durationOf(headers[spent.reset], nowMs);
  return resetMs === undefined ? { reach: 'model' } : { reach: 'model', retryAfterMs: resetMs };
}

/** The limits that an answer tells. Those of another length than a minute (a day's) are left out. */
export function rateLimitsOf(headers: AnswerHeaders, nowMs: number): RateLimits | undefined {
  const requestsPerMinute = perMinute(REQUESTS, headers, nowMs);
  const tokensPerMinute = perMinute(TOKENS, headers, nowMs);
  if (requestsPerMinute === undefined && tokensPerMinute === undefined) return undefined;
  return {
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
    ...(tokensPerMinute === undefined ? {} : { tokensPerMinute }),
  };
}

function perMinute(kinds: readonly LimitHeaders[], headers: AnswerHeaders, nowMs: number): number | undefined {
  for (const names of kinds) {
    const limit = numberOf(headers[names.limit]);
    if (limit === undefined || limit < 1) continue;
    const remaining = numberOf(headers[names.remaining]);
    const resetMs = durationOf(headers[names.reset], nowMs);
    if (remaining === undefined || resetMs === undefined || remaining >= limit) continue;
    const wholeMs = (resetMs * limit) / (limit - remaining);
    if (wholeMs >= SHORTEST_MINUTE_MS && wholeMs <= LONGEST_MINUTE_MS) return limit;
  }
  return undefined;
}

function openaiHeaders(kind: string): LimitHeaders {
  return {
    limit: `x-ratelimit-limit-${kind}`,
    remaining: `x-ratelimit-remaining-${kind}`,
    reset: `x-ratelimit-reset-${kind}`,
  };
}

function anthropicHeaders(kind: string): LimitHeaders {
  return {
    limit: `anthropic-ratelimit-${kind}-limit`,
    remaining: `anthropic-ratelimit-${kind}-remaining`,
    reset: `anthropic-ratelimit-${kind}-reset`,
  };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : undefined;
}

/** `17ms`, `6m0s`, seconds alone, or an instant (RFC 3339). */
function durationOf(value: unknown, nowMs: number): number | undefined {
  if (typeof value !== 'string' || value === '' || value.length > 40) return undefined;
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value) * 1000;
  const parts = /^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/.exec(value);
  if (parts !== null) {
    const [, hours = '0', minutes = '0', seconds = '0', ms = '0'] = parts;
    return Number(hours) * 60 * MINUTE_MS + Number(minutes) * MINUTE_MS + Number(seconds) * 1000 + Number(ms);
  }
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
