import type { LimitRefusal, Policy, Refusal } from '@sluice/contracts';

const OWNER = { tenant: 'Your organisation', workspace: 'This workspace', key: 'This API key' } as const;

/**
 * A limit's refusal in words that a customer understands: which limit, whose, how much is used, when it is free
 * again.
 */
export function refusalOf(refusal: LimitRefusal, policy: Policy): Refusal {
  const owner = OWNER[refusal.level];
  const limit = { level: refusal.level, name: refusal.limit };
  const wait = Number.isFinite(refusal.retryAfterMs) ? { retryAfterMs: refusal.retryAfterMs } : {};
  switch (refusal.kind) {
    case 'quota':
      return {
        code: 'quota',
        message: `${owner} has used ${amount(refusal.used, refusal.unit)} of the ${amount(refusal.limitValue, refusal.unit)} of its quota '${refusal.limit}'.${again(refusal.retryAfterMs)}`,
        ...(policy.quotaStatus === 429 ? { status: 429 } : {}),
        ...wait,
        limit,
      };
    case 'shed':
      return {
        code: 'shed',
        message:
          refusal.limit === 'queued'
            ? `${owner} has ${refusal.used} requests waiting, and may have ${refusal.limitValue}.${again(refusal.retryAfterMs)}`
            : `${owner} has ${refusal.used} requests in progress, and may have ${refusal.limitValue}.${again(refusal.retryAfterMs)}`,
        ...wait,
        limit,
      };
    case 'throttled':
      return {
        code: 'throttled',
        message: Number.isFinite(refusal.retryAfterMs)
          ? `${owner} has reached its rate limit for ${refusal.limit} (${refusal.limitValue}).${again(refusal.retryAfterMs)}`
          : `This request needs more ${refusal.limit} than ${owner.toLowerCase()} may use at once (${refusal.limitValue}); make it smaller.`,
        ...wait,
        limit,
      };
  }
}

function amount(value: number, unit: LimitRefusal['unit']): string {
  if (unit === 'nanodollars') return `$${(value / 1e9).toFixed(2)}`;
  return `${value.toLocaleString('en-US')} ${unit}`;
}

function again(waitMs: number): string {
  if (!Number.isFinite(waitMs)) return '';
  if (waitMs < 1000) return ` Try again in ${Math.max(1, Math.ceil(waitMs))} ms.`;
  if (waitMs < 120_000) return ` Try again in ${(Math.ceil(waitMs / 100) / 10).toFixed(1)} s.`;
  if (waitMs < 7_200_000) return ` Try again in ${Math.ceil(waitMs / 60_000)} minutes.`;
  return ` Try again in ${Math.ceil(waitMs / 3_600_000)} hours.`;
}
