import type { BucketView, KeySpend, LimitsView } from '@sluice/contracts';
import type { CompiledKey } from '../compiled-config.ts';

/**
 * What a key's caller may know of its own limits, quotas and spend: `GET /v1/usage`. Money in nanodollars. Limits and
 * quotas are this gateway's own knowledge; the spend is the ledger's, and null while that cannot be asked.
 */
export function usageBody(key: CompiledKey, view: LimitsView, spend: KeySpend | undefined): object {
  return {
    object: 'usage',
    workspace: key.workspace.workspace.slug,
    key_id: key.record.keyId,
    requests: bucketBody(view.requests),
    tokens: bucketBody(view.tokens),
    in_flight: view.inFlight,
    queued: view.queued,
    quotas: view.quotas.map((quota) => ({
      level: quota.level,
      window: quota.window,
      meter: quota.meter,
      mode: quota.mode,
      limit: quota.limit,
      used: quota.used,
      remaining: Math.max(0, quota.limit - quota.used),
      resets_at: Number.isFinite(quota.resetAtMs) ? new Date(quota.resetAtMs).toISOString() : null,
    })),
    spend: spend ?? null,
  };
}

/**
 * A key about itself: `GET /v1/key/info`. What it may do, and what `usageBody` says of limits, quotas and spend: how
 * much is left of each.
 */
export function keyInfoBody(key: CompiledKey, view: LimitsView, spend: KeySpend | undefined): object {
  const { record, workspace } = key;
  return {
    ...usageBody(key, view, spend),
    object: 'key',
    name: record.name,
    created_at: record.createdAt,
    expires_at: record.expiresAt ?? null,
    allowed_models: record.allowModels ?? workspace.policy.routing.allowModels ?? null,
    allowed_addresses: record.allowAddresses ?? null,
    tags: record.tags,
  };
}

function bucketBody(bucket: BucketView | undefined): object | null {
  return bucket === undefined ? null : { limit: bucket.limit, remaining: bucket.remaining, reset_ms: bucket.resetMs };
}
