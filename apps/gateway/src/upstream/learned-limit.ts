import { MinuteWindow } from './minute-window.ts';

const MINUTE_MS = 60_000;
/** By this much a limit shrinks when the provider refuses, and it grows as much in a minute without. */
const STEP = 0.1;
/** Refusals of one burst count once. */
const SHRINK_EVERY_MS = 1_000;
/** Below it nothing is learned: how long the provider asks to wait says enough. Requests per minute. */
const LEAST = 60;

/**
 * Requests per minute of one model of an account, as far as its provider's refusals tell. It begins at what was served
 * when the refusals began, shrinks by a tenth at each further one, never below what was really served in the last
 * minute, and grows slowly (additive increase, multiplicative decrease; Chiu, Jain, 1989). When it has doubled, there is
 * none any more. Monotonic milliseconds.
 */
export class LearnedLimit {
  readonly #served = new MinuteWindow();
  #firstServedMs: number | undefined;
  #base: number | undefined;
  #shrunkAtMs = -Infinity;

  served(nowMs: number): void {
    this.#firstServedMs ??= nowMs;
    this.#served.add(1, nowMs);
  }

  /** The provider refused more than one tenant's calls. */
  limited(nowMs: number): void {
    if (nowMs - this.#shrunkAtMs < SHRINK_EVERY_MS) return;
    const served = this.#served.sum(nowMs);
    const current = this.perMinute(nowMs);
    if (current === undefined && served === 0) return;
    this.#base = Math.max(LEAST, served, current === undefined ? this.#pace(served, nowMs) : current * (1 - STEP));
    this.#shrunkAtMs = nowMs;
  }

  /** It was no limit of the account's. */
  forget(): void {
    this.#base = undefined;
  }

  /** Requests per minute; undefined while nothing is known. */
  perMinute(nowMs: number): number | undefined {
    if (this.#base === undefined) return undefined;
    const growth = 1 + (STEP * (nowMs - this.#shrunkAtMs)) / MINUTE_MS;
    if (growth >= 2) this.#base = undefined;
    return this.#base === undefined ? undefined : this.#base * growth;
  }

  /** What was served, as if it had gone on like this for a minute. */
  #pace(served: number, nowMs: number): number {
    const sinceMs = nowMs - (this.#firstServedMs ?? nowMs);
    return (served * MINUTE_MS) / Math.min(MINUTE_MS, Math.max(1_000, sinceMs));
  }
}
