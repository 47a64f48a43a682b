import type { Clock } from '@sluice/contracts';

/** Beyond this, successive callers begin again at the exact wait; SDKs sleep up to 60 s. */
const LONGEST_MS = 55_000;
/** Limits that are remembered; the one that was refused first is forgotten. */
const MAX_LIMITS = 10_000;

/** One refused call. */
export interface RefusedCall {
  /** The limit that refused it: whose, and which. */
  readonly limit: string;
  /** The wait after which one caller is admitted, ms. */
  readonly waitMs: number;
  /** How long the limit takes until it admits one more call like this, ms. */
  readonly spacingMs: number;
}

/**
 * Spreads the waits of callers that one limit refuses in a row: each is given the next moment at which the limit has
 * room for one more. With the same exact wait for all, all but one would be refused again. Nobody is told to come
 * earlier than the exact wait, and the first is told that wait.
 */
export interface RetrySlots {
  /** The wait of this caller, ms: at least `waitMs`. */
  waitFor(call: RefusedCall): number;
}

export function createRetrySlots({
  clock,
  maxLimits = MAX_LIMITS,
}: {
  clock: Pick<Clock, 'monotonic'>;
  maxLimits?: number;
}): RetrySlots {
  /** The last moment that was given away, by limit. */
  const last = new Map<string, number>();
  return {
    waitFor({ limit, waitMs, spacingMs }) {
      if (!Number.isFinite(waitMs) || !(spacingMs > 0)) return waitMs;
      const nowMs = clock.monotonic();
      const next = Math.max(nowMs + waitMs, (last.get(limit) ?? 0) + spacingMs);
      const slot = next - nowMs <= LONGEST_MS ? next : nowMs + waitMs;
      if (!last.has(limit) && last.size >= maxLimits) last.delete(last.keys().next().value as string);
      last.set(limit, slot);
      return Math.ceil(slot - nowMs);
    },
  };
}
