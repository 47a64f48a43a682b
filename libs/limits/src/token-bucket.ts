/**
 * Who has waited the exact time is admitted even when floating point puts the level a hair short; the rest is debt and
 * is paid by the next caller. Milliseconds of refill.
 */
const TOLERANCE_MS = 0.001;

/**
 * A token bucket (Turner, 1986) that may go into debt. It holds at most `capacity` units and gains `ratePerMs`
 * units per millisecond; whoever needs n units waits until the level reaches n. Pure: the time, in milliseconds of
 * a monotonic clock, is a parameter. Starts full.
 */
export class TokenBucket {
  capacity: number;
  ratePerMs: number;
  /** Begins as no integer, so that the engine keeps the field as a double and boxes nothing when it changes. */
  #level = NaN;
  #atMs = NaN;

  constructor(capacity: number, ratePerMs: number, nowMs: number) {
    this.capacity = capacity;
    this.ratePerMs = ratePerMs;
    this.#level = capacity;
    this.#atMs = nowMs;
  }

  /** Units in the bucket; negative while in debt. */
  level(nowMs: number): number {
    if (nowMs > this.#atMs) {
      const level = this.#level + (nowMs - this.#atMs) * this.ratePerMs;
      this.#level = level > this.capacity ? this.capacity : level;
      this.#atMs = nowMs;
    }
    return this.#level;
  }

  /** Sets what is in the bucket, never above the capacity. */
  set(level: number, nowMs: number): void {
    this.#level = level > this.capacity ? this.capacity : level;
    this.#atMs = nowMs;
  }

  /** True when `units` may be taken now. */
  has(units: number, nowMs: number): boolean {
    return this.level(nowMs) + this.ratePerMs * TOLERANCE_MS >= units;
  }

  /** Takes `units` whether they are there or not; what is missing is debt. */
  take(units: number, nowMs: number): void {
    this.#level = this.level(nowMs) - units;
  }

  /** Puts `units` back, never above the capacity. */
  give(units: number, nowMs: number): void {
    const level = this.level(nowMs) + units;
    this.#level = level > this.capacity ? this.capacity : level;
  }

  /**
   * How long until `units` may be taken, in whole milliseconds rounded up; 0 when now, `Infinity` when the bucket can
   * never hold that many.
   */
  waitMs(units: number, nowMs: number): number {
    if (this.has(units, nowMs)) return 0;
    if (units > this.capacity) return Infinity;
    return Math.max(1, Math.ceil((units - this.#level) / this.ratePerMs - TOLERANCE_MS / 2));
  }

  /** Whole units that may be taken now, never below 0. */
  remaining(nowMs: number): number {
    const level = this.level(nowMs) + this.ratePerMs * TOLERANCE_MS;
    return level > 0 ? Math.min(this.capacity, Math.floor(level)) : 0;
  }

  /** Until the bucket is full, whole milliseconds. */
  resetMs(nowMs: number): number {
    return Math.max(0, Math.ceil((this.capacity - this.level(nowMs)) / this.ratePerMs - TOLERANCE_MS / 2));
  }

  /**
   * Changes size and rate at once. The filled share stays (a full bucket is full, a half-full one half full), so going
   * back and forth between two sizes gains nothing; debt stays as it is.
   */
  reconfigure(capacity: number, ratePerMs: number, nowMs: number): void {
    const level = this.level(nowMs);
    if (level > 0) this.#level = (level / this.capacity) * capacity;
    this.capacity = capacity;
    this.ratePerMs = ratePerMs;
  }
}
