const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
/** Weight of the newest call in the average residency. */
const NEWEST = 0.1;

/**
 * Bounds residency: how many calls of one level are in flight (waiting ones included), and how many of them wait. The
 * counters go on when the bounds change, also while nothing is bounded.
 */
export class Bulkhead {
  maxInFlight = Infinity;
  maxQueued = Infinity;
  inFlight = 0;
  queued = 0;
  #averageHoldMs = 0;

  /** True when one more call may be in flight. */
  get hasRoom(): boolean {
    return this.inFlight < this.maxInFlight;
  }

  /** True when one more call may wait. */
  get hasQueueRoom(): boolean {
    return this.queued < this.maxQueued;
  }

  /** A call that was held for `heldMs` is over. */
  leave(heldMs: number): void {
    this.inFlight--;
    this.#averageHoldMs += (heldMs - this.#averageHoldMs) * (this.#averageHoldMs === 0 ? 1 : NEWEST);
  }

  /** When a place is likely to be free: by Little's law one of n calls ends every average residency / n. 1 to 30 s. */
  retryAfterMs(): number {
    const expected = this.#averageHoldMs / Math.max(1, this.inFlight);
    return Math.min(MAX_RETRY_MS, Math.max(MIN_RETRY_MS, Math.ceil(expected)));
  }
}
