import { DecayingMean, timeAwareAlpha } from './decaying-mean.ts';

/** Output of a call that counts as fully difficult, tokens. */
export const TOKENS_REFERENCE = 750;
const DIFFICULTY_ALPHA = 0.1;
const PRESSURE_TAU_MS = 10_000;
/** Event ids that are remembered to count none twice. */
const REMEMBERED = 10_000;

/** How hard a tenant's traffic is and how much of it is held back, both in [0, 1]. */
export interface TenantProfile {
  readonly difficulty: number;
  readonly pressure: number;
  readonly calls: number;
  readonly arrivals: number;
  readonly lastAtMs: number;
}

/**
 * Learns a tenant's difficulty from settled calls (share of a reference length, exponentially weighted) and its pressure
 * from arrivals (1 for each that was throttled or shed, else 0), which falls to 0 by the clock when nothing arrives.
 */
export class TenantSignals {
  readonly #difficulty = new DecayingMean();
  readonly #seen = new Set<string>();
  #pressure = 0;
  #pressureAtMs = 0;
  #arrivals = 0;
  #lastAtMs = 0;

  /** @returns false for an event that was counted before. */
  settled({ eventId, outputTokens, atMs }: { eventId: string; outputTokens: number; atMs: number }): boolean {
    if (!this.#remember(eventId)) return false;
    this.#difficulty.add(Math.min(outputTokens / TOKENS_REFERENCE, 1), DIFFICULTY_ALPHA);
    this.#arrived(0, 1, atMs);
    return true;
  }

  /** Refusals of one second together. @returns false for an event that was counted before. */
  refused({ eventId, count, atMs }: { eventId: string; count: number; atMs: number }): boolean {
    if (!this.#remember(eventId)) return false;
    this.#arrived(1, count, atMs);
    return true;
  }

  profile(nowMs: number): TenantProfile {
    return { difficulty: this.#difficulty.corrected, pressure: this.#pressureAt(nowMs), calls: this.#difficulty.count, arrivals: this.#arrivals, lastAtMs: this.#lastAtMs };
  }

  #arrived(x: number, count: number, atMs: number): void {
    // Between arrivals the pressure falls; each arrival then moves it by a fixed share.
    this.#pressure = this.#pressureAt(atMs);
    this.#pressureAtMs = Math.max(this.#pressureAtMs, atMs);
    this.#pressure += (1 - (1 - 0.05) ** count) * (x - this.#pressure);
    this.#arrivals += count;
    this.#lastAtMs = Math.max(this.#lastAtMs, atMs);
  }

  #pressureAt(nowMs: number): number {
    if (this.#arrivals === 0) return 0;
    return this.#pressure * (1 - timeAwareAlpha(Math.max(0, nowMs - this.#pressureAtMs), PRESSURE_TAU_MS));
  }

  #remember(eventId: string): boolean {
    if (this.#seen.has(eventId)) return false;
    if (this.#seen.size >= REMEMBERED) this.#seen.delete(this.#seen.values().next().value as string);
    this.#seen.add(eventId);
    return true;
  }
}
