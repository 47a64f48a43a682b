import { MinuteWindow } from './minute-window.ts';

/** A minute and the second by which the window may be too long. */
const REFILL_MS = 61_000;
/** Part of a limit that may be used at one moment. */
const BURST_SHARE = 10;

/**
 * A limit per minute: never more than it in any 60 seconds, and never more than a tenth of it at once, so that a burst
 * leaves something for those who come a moment later. The other nine tenths come back evenly over the minute (a token
 * bucket; Turner, 1986). Monotonic milliseconds.
 */
export class RateMeter {
  readonly #window = new MinuteWindow();
  #limit: number;
  #burst = 1;
  #perMs = 0;
  #level: number;
  #atMs: number;

  /** @param limit per minute, more than 0. */
  constructor(limit: number, nowMs: number) {
    this.#limit = limit;
    this.#setShape();
    this.#level = this.#burst;
    this.#atMs = nowMs;
  }

  get limit(): number {
    return this.#limit;
  }

  /** Another limit from now on; what was used stays. */
  setLimit(limit: number, nowMs: number): void {
    if (limit === this.#limit) return;
    this.#refill(nowMs);
    this.#limit = limit;
    this.#setShape();
    this.#level = Math.min(this.#level, this.#burst);
  }

  /** Until `amount` may be used, milliseconds; 0 when it may now. What is larger than the limit goes alone. */
  waitMs(amount: number, nowMs: number): number {
    this.#refill(nowMs);
    const paceMs = this.#level >= 1 ? 0 : Math.ceil((1 - this.#level) / this.#perMs);
    return Math.max(paceMs, this.#window.waitMs(amount, this.#limit, nowMs));
  }

  /** @returns the second in which it was counted, for `change`. */
  add(amount: number, nowMs: number): number {
    this.#refill(nowMs);
    this.#level -= amount;
    return this.#window.add(amount, nowMs);
  }

  /** Corrects what was counted in a second. */
  change(second: number, amount: number): void {
    this.#level = Math.min(this.#burst, this.#level - amount);
    this.#window.change(second, amount);
  }

  #setShape(): void {
    this.#burst = Math.max(1, Math.floor(this.#limit / BURST_SHARE));
    this.#perMs = (this.#limit - this.#burst + 1) / REFILL_MS;
  }

  #refill(nowMs: number): void {
    this.#level = Math.min(this.#burst, this.#level + (nowMs - this.#atMs) * this.#perMs);
    this.#atMs = nowMs;
  }
}
