import type { Clock } from '@sluice/contracts';
import { EventWindow } from './event-window.ts';
import { TenantRetries } from './tenant-retries.ts';

export interface RetryBudgetOptions {
  readonly clock: Clock;
  /** Retries as a share of first attempts, percent. */
  readonly percent?: number;
  readonly windowMs?: number;
  /** Retries per window that are allowed whatever the traffic, so that a quiet provider's calls are retried too. */
  readonly minimumRetries?: number;
  /**
   * Retries per window that a tenant may make whatever its traffic, of what nobody has a right to. Fewer than
   * `minimumRetries`, or one could have them all.
   */
  readonly tenantMinimum?: number;
}

/**
 * Keeps retries from multiplying the load on a provider in trouble, and one tenant's failures from using up the
 * retries of all; one per provider.
 */
export interface RetryBudget {
  /** Counts a first attempt. */
  recordRequest(tenantId: string): void;
  /** Takes leave for one retry; false when the provider's budget, or the tenant's part in it, is used up. */
  tryRetry(tenantId: string): boolean;
  /** `tenants`: who is remembered, for what it did in the window. */
  report(): { readonly requests: number; readonly retries: number; readonly allowed: number; readonly tenants: number };
}

/**
 * Retry budget (as in Finagle and the SRE book): within `windowMs`, at most `percent` of the first attempts, and at
 * least `minimumRetries`, may be retries, of all tenants together.
 *
 * Within it a tenant's own are `percent` of its own first attempts, in whole retries. Whoever has made fewer is
 * refused only by the provider's bound. Beyond them a tenant may make up to `tenantMinimum` in all, of what is left
 * when all tenants' unused own is kept for them: mostly the parts of a retry of those with few requests, and
 * `minimumRetries` at a quiet provider. So no failing tenant takes what another has at that time.
 */
export function createRetryBudget({
  clock,
  percent = 10,
  windowMs = 10_000,
  minimumRetries = 3,
  tenantMinimum = 2,
}: RetryBudgetOptions): RetryBudget {
  const window = new EventWindow(windowMs);
  const tenants = new TenantRetries(windowMs, percent);
  const allowed = (nowMs: number): number =>
    Math.max(minimumRetries, Math.floor((window.first(nowMs) * percent) / 100));
  return {
    recordRequest(tenantId) {
      const now = clock.monotonic();
      window.add(1, 0, now);
      tenants.addRequest(tenantId, now);
    },
    tryRetry(tenantId) {
      const now = clock.monotonic();
      const left = allowed(now) - window.second(now);
      if (left < 1) return false;
      const made = tenants.made(tenantId, now);
      if (made >= tenants.own(tenantId) && (made >= tenantMinimum || left <= tenants.unused)) return false;
      window.add(0, 1, now);
      tenants.addRetry(tenantId, now);
      return true;
    },
    report() {
      const now = clock.monotonic();
      tenants.roll(now);
      return { requests: window.first(now), retries: window.second(now), allowed: allowed(now), tenants: tenants.size };
    },
  };
}
