/** Sub-windows of a window: it forgets a tenth at a time. */
export const BUCKETS = 10;

/**
 * Counts two kinds of events over the last `windowMs` milliseconds in ten sub-windows: the current one and the nine
 * before it. Pure: time, on a monotonic clock, is a parameter. No allocation after creation.
 */
export class EventWindow {
  readonly #bucketMs: number;
  readonly #first = new Float64Array(BUCKETS);
  readonly #second = new Float64Array(BUCKETS);
  #newest = -Infinity;
  #firstTotal = 0;
  #secondTotal = 0;

  constructor(windowMs: number) {
    this.#bucketMs = windowMs / BUCKETS;
  }

  /** Adds events of both kinds at `nowMs`. */
  add(first: number, second: number, nowMs: number): void {
    this.roll(nowMs);
    const slot = slotOf(this.#newest);
    this.#first[slot] = (this.#first[slot] ?? 0) + first;
    this.#second[slot] = (this.#second[slot] ?? 0) + second;
    this.#firstTotal += first;
    this.#secondTotal += second;
  }

  /** Forgets what is older than the window. */
  roll(nowMs: number): void {
    const bucket = Math.floor(nowMs / this.#bucketMs);
    if (bucket <= this.#newest) return;
    if (bucket - this.#newest >= BUCKETS) {
      this.clear();
    } else {
      for (let old = this.#newest + 1; old <= bucket; old++) this.#forget(slotOf(old));
    }
    this.#newest = bucket;
  }

  /** Forgets everything. */
  clear(): void {
    this.#first.fill(0);
    this.#second.fill(0);
    this.#firstTotal = 0;
    this.#secondTotal = 0;
  }

  /** Events of the first kind at `nowMs`. */
  first(nowMs: number): number {
    this.roll(nowMs);
    return this.#firstTotal;
  }

  /** Events of the second kind at `nowMs`. */
  second(nowMs: number): number {
    this.roll(nowMs);
    return this.#secondTotal;
  }

  #forget(slot: number): void {
    this.#firstTotal -= this.#first[slot] ?? 0;
    this.#secondTotal -= this.#second[slot] ?? 0;
    this.#first[slot] = 0;
    this.#second[slot] = 0;
  }
}

/** Where a sub-window is kept, by its number. */
export function slotOf(bucket: number): number {
  return ((bucket % BUCKETS) + BUCKETS) % BUCKETS;
}
