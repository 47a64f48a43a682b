import type { Clock } from '@sluice/contracts';
import { EventWindow } from './event-window.ts';

export interface RetryBudgetOptions {
  readonly clock: Clock;
  /** Retries as a share of first attempts, percent. */
  readonly percent?: number;
  readonly windowMs?: number;
  /** Retries per window that are allowed whatever the traffic, so that a quiet provider's calls are retried too. */
  readonly minimumRetries?: number;
}

/** Keeps retries from multiplying the load on a provider in trouble; one per provider. */
export interface RetryBudget {
  /** Counts a first attempt. */
  recordRequest(): void;
  /** Takes leave for one retry; false when the budget is used up. */
  tryRetry(): boolean;
  report(): { readonly requests: number; readonly retries: number; readonly allowed: number };
}

/**
 * Retry budget (as in Finagle and the SRE book): within `windowMs`, at most `percent` of the first attempts, and at least
 * `minimumRetries`, may be retries.
 */
export function createRetryBudget({ clock, percent = 10, windowMs = 10_000, minimumRetries = 3 }: RetryBudgetOptions): RetryBudget {
  const window = new EventWindow(windowMs);
  const allowed = (nowMs: number): number => Math.max(minimumRetries, Math.floor((window.first(nowMs) * percent) / 100));
  return {
    recordRequest: () => window.add(1, 0, clock.monotonic()),
    tryRetry() {
      const now = clock.monotonic();
      if (window.second(now) >= allowed(now)) return false;
      window.add(0, 1, now);
      return true;
    },
    report() {
      const now = clock.monotonic();
      return { requests: window.first(now), retries: window.second(now), allowed: allowed(now) };
    },
  };
}
