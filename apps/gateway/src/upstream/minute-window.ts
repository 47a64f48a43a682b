const SLOT_MS = 1_000;
/** One more than a minute has, so that the oldest second counts until all of it is a minute ago. */
const SLOTS = 61;

/**
 * A sum over the last minute, by the second: never less than the exact one, and at most a second's worth more.
 * Monotonic milliseconds.
 */
export class MinuteWindow {
  readonly #slots = new Float64Array(SLOTS);
  #newest = 0;
  #sum = 0;

  /** @returns the second in which it was counted, for `change`. */
  add(amount: number, nowMs: number): number {
    this.#advance(nowMs);
    this.#slots[this.#newest % SLOTS] = (this.#slots[this.#newest % SLOTS] as number) + amount;
    this.#sum += amount;
    return this.#newest;
  }

  /** Corrects what was counted in a second; nothing when that is a minute ago. */
  change(second: number, amount: number): void {
    if (second <= this.#newest - SLOTS) return;
    this.#slots[second % SLOTS] = (this.#slots[second % SLOTS] as number) + amount;
    this.#sum += amount;
  }

  sum(nowMs: number): number {
    this.#advance(nowMs);
    return this.#sum;
  }

  /**
   * Until `amount` more fits below the limit, milliseconds; 0 when it does now. What is above the limit itself fits
   * into an empty window.
   */
  waitMs(amount: number, limit: number, nowMs: number): number {
    this.#advance(nowMs);
    const room = Math.max(0, limit - amount);
    let sum = this.#sum;
    if (sum <= room) return 0;
    for (let second = this.#newest - SLOTS + 1; second <= this.#newest; second += 1) {
      if (second < 0) continue;
      sum -= this.#slots[second % SLOTS] as number;
      if (sum <= room) return (second + SLOTS) * SLOT_MS - nowMs;
    }
    return SLOTS * SLOT_MS;
  }

  #advance(nowMs: number): void {
    const second = Math.floor(nowMs / SLOT_MS);
    if (second - this.#newest >= SLOTS) {
      this.#slots.fill(0);
      this.#sum = 0;
      this.#newest = second;
      return;
    }
    while (this.#newest < second) {
      this.#newest += 1;
      this.#sum -= this.#slots[this.#newest % SLOTS] as number;
      this.#slots[this.#newest % SLOTS] = 0;
    }
  }
}
