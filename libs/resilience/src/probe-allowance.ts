/** Probes that may be in hand without having been earned. */
const BURST = 2;
const PER_SECOND = 1;
/** What a success earns: its own back and one more, so that a provider that is well again is used again soon. */
const EARNED = 2;
const MAX_EARNED = 32;

/**
 * Leave for probes of parties that know nothing yet, while others fail: one a second for all of them, and more as
 * they succeed. Pure: time, on a monotonic clock, is a parameter.
 */
export class ProbeAllowance {
  #left = BURST;
  #atMs = -Infinity;

  take(nowMs: number): boolean {
    if (this.#left < BURST) this.#left = Math.min(BURST, this.#left + ((nowMs - this.#atMs) / 1000) * PER_SECOND);
    this.#atMs = nowMs;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  /** A probe succeeded. */
  earn(): void {
    this.#left = Math.min(MAX_EARNED, this.#left + EARNED);
  }
}
