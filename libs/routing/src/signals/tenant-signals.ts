import { DecayingMean, timeAwareAlpha, type DecayingMeanState } from './decaying-mean.ts';

/** Output of a call that counts as fully difficult, tokens. */
export const TOKENS_REFERENCE = 750;
const DIFFICULTY_ALPHA = 0.1;
const PRESSURE_TAU_MS = 10_000;
/** Event ids that are remembered to count none twice. */
const REMEMBERED = 10_000;
/** Pressure below this is none. */
const NO_PRESSURE = 1e-3;

/** How hard a tenant's traffic is and how much of it is held back, both in [0, 1]. */
export interface TenantProfile {
  readonly difficulty: number;
  readonly pressure: number;
  /** Length of its answers less what is usual for the models that gave them, tokens; not moved by a verbose model. */
  readonly residualTokens: number;
  readonly calls: number;
  readonly arrivals: number;
  readonly lastAtMs: number;
}

/** What a tenant's signals are made of, to go on from after a restart. Which events were counted is not in it. */
export interface TenantSignalsState {
  readonly difficulty: DecayingMeanState;
  readonly residual: DecayingMeanState;
  readonly pressure: number;
  readonly pressureAtMs: number;
  readonly arrivals: number;
  readonly lastAtMs: number;
}

/**
 * Learns a tenant's difficulty from settled calls (share of a reference length, exponentially weighted) and its
 * pressure from arrivals (1 for each that was throttled or shed, else 0), which falls to 0 by the clock when
 * nothing arrives.
 */
export class TenantSignals {
  #difficulty = new DecayingMean();
  #residual = new DecayingMean();
  readonly #seen = new Set<string>();
  #pressure = 0;
  #pressureAtMs = 0;
  #arrivals = 0;
  #lastAtMs = 0;

  static restore(state: TenantSignalsState): TenantSignals {
    const signals = new TenantSignals();
    signals.#difficulty = DecayingMean.restore(state.difficulty);
    signals.#residual = DecayingMean.restore(state.residual);
    signals.#pressure = state.pressure;
    signals.#pressureAtMs = state.pressureAtMs;
    signals.#arrivals = state.arrivals;
    signals.#lastAtMs = state.lastAtMs;
    return signals;
  }

  get state(): TenantSignalsState {
    return {
      difficulty: this.#difficulty.state,
      residual: this.#residual.state,
      pressure: this.#pressure,
      pressureAtMs: this.#pressureAtMs,
      arrivals: this.#arrivals,
      lastAtMs: this.#lastAtMs,
    };
  }

  /**
   * @param expectedTokens usual length of an answer of the model that gave it; nothing is learned of the residual
   * without.
   * @returns false for an event that was counted before.
   */
  settled({
    eventId,
    outputTokens,
    atMs,
    expectedTokens,
  }: {
    eventId: string;
    outputTokens: number;
    atMs: number;
    expectedTokens?: number | undefined;
  }): boolean {
    if (!this.#remember(eventId)) return false;
    if (expectedTokens !== undefined) this.#residual.add(outputTokens - expectedTokens, DIFFICULTY_ALPHA);
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
    return {
      difficulty: this.#difficulty.corrected,
      pressure: shown(this.#pressureAt(nowMs)),
      residualTokens: this.#residual.corrected,
      calls: this.#difficulty.count,
      arrivals: this.#arrivals,
      lastAtMs: this.#lastAtMs,
    };
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

const shown = (pressure: number): number => (pressure < NO_PRESSURE ? 0 : pressure);
