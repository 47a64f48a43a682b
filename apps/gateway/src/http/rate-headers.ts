import { HEADER, type BucketView, type Dialect, type LimitsView, type QuotaView } from '@sluice/contracts';
import type { ClientResponse } from './client-response.ts';

/** Quota use from which on callers are warned, percent. */
const WARN_PERCENT = 80;

/**
 * The rate and quota headers of an answer. `x-ratelimit-*` always; `anthropic-ratelimit-*` on Anthropic routes too.
 *
 * @param nowMs epoch milliseconds, for the RFC 3339 resets.
 */
export function setRateHeaders(
  response: Pick<ClientResponse, 'setHeader'>,
  view: LimitsView,
  dialect: Dialect,
  nowMs: number,
): void {
  const { requests, tokens, quotas } = view;
  if (requests !== undefined) setBucket(response, 'requests', requests);
  if (tokens !== undefined) setBucket(response, 'tokens', tokens);
  if (dialect === 'anthropic') {
    if (requests !== undefined) setAnthropicBucket(response, 'requests', requests, nowMs);
    if (tokens !== undefined) {
      setAnthropicBucket(response, 'tokens', tokens, nowMs);
      setAnthropicBucket(response, 'input-tokens', tokens, nowMs);
      setAnthropicBucket(response, 'output-tokens', tokens, nowMs);
    }
  }
  if (quotas.length > 0) setQuotas(response, quotas);
}

/**
 * A duration as OpenAI's headers write it, which is Go's way: `17ms`, `1.5s`, `6m0s`, `2h0m0s`. Rounded up to
 * milliseconds.
 */
export function goDuration(durationMs: number): string {
  const ms = Math.max(0, Math.ceil(durationMs));
  if (ms === 0) return '0s';
  if (ms < 1000) return `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = (ms % 60_000) / 1000;
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}

function setBucket(response: Pick<ClientResponse, 'setHeader'>, unit: 'requests' | 'tokens', bucket: BucketView): void {
  response.setHeader(
    unit === 'requests' ? 'x-ratelimit-limit-requests' : 'x-ratelimit-limit-tokens',
    String(bucket.limit),
  );
  response.setHeader(
    unit === 'requests' ? 'x-ratelimit-remaining-requests' : 'x-ratelimit-remaining-tokens',
    String(bucket.remaining),
  );
  response.setHeader(
    unit === 'requests' ? 'x-ratelimit-reset-requests' : 'x-ratelimit-reset-tokens',
    goDuration(bucket.resetMs),
  );
}

function setAnthropicBucket(
  response: Pick<ClientResponse, 'setHeader'>,
  unit: string,
  bucket: BucketView,
  nowMs: number,
): void {
  response.setHeader(`anthropic-ratelimit-${unit}-limit`, String(bucket.limit));
  response.setHeader(`anthropic-ratelimit-${unit}-remaining`, String(bucket.remaining));
  response.setHeader(`anthropic-ratelimit-${unit}-reset`, new Date(nowMs + bucket.resetMs).toISOString());
}

function setQuotas(response: Pick<ClientResponse, 'setHeader'>, quotas: readonly QuotaView[]): void {
  let remaining = Infinity;
  let warning = '';
  for (const quota of quotas) {
    if (quota.meter !== 'cost_nanousd') remaining = Math.min(remaining, Math.max(0, quota.limit - quota.used));
    const percent = quota.limit === 0 ? 100 : Math.floor((quota.used / quota.limit) * 100);
    if (percent >= WARN_PERCENT)
      warning += `${warning === '' ? '' : ', '}${quota.level} ${quota.meter} ${quota.mode} ${percent}%`;
  }
  if (remaining !== Infinity) response.setHeader(HEADER.quotaRemainingTokens, String(remaining));
  if (warning !== '') response.setHeader(HEADER.quotaWarning, warning);
}
