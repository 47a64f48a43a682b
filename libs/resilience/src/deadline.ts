import type { Clock } from '@sluice/contracts';

/** The end of a whole call, over all of its attempts. */
export interface Deadline {
  /** On the monotonic clock. */
  readonly atMs: number;
  /** Milliseconds left, never below 0. */
  remaining(): number;
  readonly expired: boolean;
  /** The smaller of what is left and `ms`. */
  bound(ms: number): number;
}

/** A deadline `totalMs` from now. */
export function createDeadline({ clock, totalMs }: { readonly clock: Clock; readonly totalMs: number }): Deadline {
  const atMs = clock.monotonic() + totalMs;
  const remaining = (): number => Math.max(0, atMs - clock.monotonic());
  return {
    atMs,
    remaining,
    get expired() {
      return remaining() === 0;
    },
    bound: (ms) => Math.min(ms, remaining()),
  };
}

export type ExpiryKind = 'total' | 'first_byte' | 'idle';

/** How far one attempt is. Times on the monotonic clock. */
export interface AttemptProgress {
  /** When the whole call must end. */
  readonly totalAtMs: number;
  /** When the request was sent. */
  readonly sentAtMs: number;
  /** When bytes last came; `undefined` before the first. */
  readonly lastByteAtMs: number | undefined;
}

/**
 * Which limit strikes first unless something comes, and when. Before the first byte the first-byte limit runs, from
 * then on the idle limit; the call's total always. At the same instant the total is named, because it is not the
 * provider's fault.
 */
export function nextExpiry(
  { totalAtMs, sentAtMs, lastByteAtMs }: AttemptProgress,
  { firstByteMs, idleMs }: { readonly firstByteMs: number; readonly idleMs: number },
): { readonly kind: ExpiryKind; readonly atMs: number } {
  const atMs = lastByteAtMs === undefined ? sentAtMs + firstByteMs : lastByteAtMs + idleMs;
  if (totalAtMs <= atMs) return { kind: 'total', atMs: totalAtMs };
  return { kind: lastByteAtMs === undefined ? 'first_byte' : 'idle', atMs };
}
