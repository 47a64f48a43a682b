import type { Clock } from '@sluice/contracts';

/** Failures before an account is locked. */
export const FAILURES_ALLOWED = 10;
export const FIRST_LOCK_MS = 30_000;
export const LONGEST_LOCK_MS = 15 * 60_000;
const ACCOUNTS_KEPT = 10_000;

/**
 * Until when an account is locked after so many failures in a row, epoch milliseconds; undefined when it is not.
 * Doubles up to 15 min.
 */
export function lockedUntilMs(failures: number, nowMs: number): number | undefined {
  if (failures < FAILURES_ALLOWED) return undefined;
  return nowMs + Math.min(LONGEST_LOCK_MS, FIRST_LOCK_MS * 2 ** Math.min(20, failures - FAILURES_ALLOWED));
}

/**
 * Counts sign-ins by account, in memory: at most 10,000 accounts, the oldest forgotten first. An attempt counts as
 * failed from its beginning, so that many at once are no more guesses than one after the other.
 */
export interface LockOut {
  /** Begins an attempt: 0 when it may go on, else the milliseconds to wait. */
  begin(account: string): number;
  /** Forgets the account's attempts. */
  succeeded(account: string): void;
}

export function createLockOut(deps: { clock: Clock }): LockOut {
  const accounts = new Map<string, { failures: number; untilMs: number | undefined }>();
  return {
    begin: (account) => {
      const waitMs = (accounts.get(account)?.untilMs ?? 0) - deps.clock.now();
      if (waitMs > 0) return waitMs;
      const failures = (accounts.get(account)?.failures ?? 0) + 1;
      accounts.delete(account);
      accounts.set(account, { failures, untilMs: lockedUntilMs(failures, deps.clock.now()) });
      const oldest = accounts.size > ACCOUNTS_KEPT ? accounts.keys().next().value : undefined;
      if (oldest !== undefined) accounts.delete(oldest);
      return 0;
    },
    succeeded: (account) => {
      accounts.delete(account);
    },
  };
}
