import type { QuotaSpan } from '@sluice/contracts';
import { calendarOf, type Period } from './calendar.ts';

/** How a window cuts time into steps and when it forgets one. */
export interface WindowSpan {
  /** The step that holds an instant. */
  stepAt(ms: number): Period;
  /** When the use of the step that starts at `startMs` is forgotten. */
  forgottenAt(startMs: number): number;
}

/**
 * The span of a window. A rolling window forgets a step when all of it is older than the window, so that no span of
 * `seconds` ever holds more than the limit; the price is that use counts up to one step longer.
 *
 * @param timeZone of the tenant, for calendar windows without one of their own.
 */
export function windowSpan(span: QuotaSpan, timeZone: string): WindowSpan {
  if (span.kind === 'calendar') {
    const calendar = calendarOf(span.timeZone ?? timeZone, span.period);
    return { stepAt: (ms) => calendar.periodAt(ms), forgottenAt: (startMs) => calendar.periodAt(startMs).endMs };
  }
  const stepMs = Math.ceil((span.seconds * 1000) / span.steps);
  const keepMs = stepMs * (span.steps + 1);
  return {
    stepAt(ms) {
      const startMs = Math.floor(ms / stepMs) * stepMs;
      return { startMs, endMs: startMs + stepMs };
    },
    forgottenAt: (startMs) => startMs + keepMs,
  };
}

/**
 * The counter of one quota window: what was used, by step, and beside it what running calls have reserved. Whole units.
 * Times are epoch milliseconds; a clock that is set back stays in the newest step.
 */
export class QuotaCounter {
  /** Sum over the steps that still count. Current after `roll`. */
  used = 0;
  /** Held by running calls; bound to no step. */
  reserved = 0;
  readonly #span: WindowSpan;
  readonly #starts: number[] = [];
  readonly #uses: number[] = [];
  #stepStartMs = -Infinity;
  #stepEndMs = -Infinity;

  constructor(span: WindowSpan) {
    this.#span = span;
  }

  /** Brings the window to `nowMs`; nearly always one comparison. */
  roll(nowMs: number): void {
    if (nowMs < this.#stepEndMs) return;
    const step = this.#span.stepAt(nowMs);
    this.#stepStartMs = step.startMs;
    this.#stepEndMs = step.endMs;
    let expired = 0;
    for (const start of this.#starts) {
      if (this.#span.forgottenAt(start) > nowMs) break;
      this.used -= this.#uses[expired++] ?? 0;
    }
    if (expired > 0) {
      this.#starts.splice(0, expired);
      this.#uses.splice(0, expired);
    }
  }

  /** Adds use to the step of `nowMs`. */
  add(units: number, nowMs: number): void {
    this.roll(nowMs);
    if (units === 0) return;
    this.#addToStep(this.#stepStartMs, units);
  }

  /** Adds use of an earlier time; what the window has forgotten already is left out. */
  addAt(units: number, atMs: number, nowMs: number): void {
    this.roll(nowMs);
    const { startMs } = this.#span.stepAt(Math.min(atMs, nowMs));
    if (units === 0 || this.#span.forgottenAt(startMs) <= nowMs) return;
    this.#addToStep(startMs, units);
  }

  /**
   * When enough is forgotten for `want` more units below `threshold`, supposing that reservations become use now:
   * epoch milliseconds, `Infinity` when never.
   */
  freeAt(want: number, threshold: number, nowMs: number): number {
    if (want > threshold || threshold <= 0) return Infinity;
    let excess = Math.max(1, this.used + this.reserved + want - threshold);
    for (let i = 0; i < this.#starts.length; i++) {
      excess -= this.#uses[i] ?? 0;
      if (excess <= 0) return this.#span.forgottenAt(this.#starts[i] ?? nowMs);
    }
    return this.#span.forgottenAt(this.#stepStartMs);
  }

  /** When the window next forgets something, epoch milliseconds; for an empty one when use of now would be. */
  resetAt(): number {
    return this.#span.forgottenAt(this.#starts[0] ?? this.#stepStartMs);
  }

  /** Replaces all use by these steps. */
  load(steps: Iterable<readonly [startMs: number, used: number]>, nowMs: number): void {
    this.used = 0;
    this.#starts.length = 0;
    this.#uses.length = 0;
    for (const [startMs, used] of steps) this.addAt(used, startMs, nowMs);
  }

  /** Makes the sum of all use this many units: more goes to the step of `nowMs`, less is taken from the oldest. */
  loadTotal(units: number, nowMs: number): void {
    this.roll(nowMs);
    let less = this.used - units;
    if (less < 0) this.add(-less, nowMs);
    for (let i = 0; i < this.#uses.length && less > 0; i++) {
      const taken = Math.min(less, this.#uses[i] ?? 0);
      this.#uses[i] = (this.#uses[i] ?? 0) - taken;
      this.used -= taken;
      less -= taken;
    }
  }

  /** Start and use of each step that counts, oldest first. */
  steps(nowMs: number): [startMs: number, used: number][] {
    this.roll(nowMs);
    return this.current();
  }

  /** The same, as of the last `roll`. */
  current(): [startMs: number, used: number][] {
    return this.#starts.map((start, i) => [start, this.#uses[i] ?? 0]);
  }

  #addToStep(startMs: number, units: number): void {
    this.used += units;
    let at = this.#starts.length;
    while (at > 0 && (this.#starts[at - 1] ?? 0) > startMs) at--;
    if (at > 0 && this.#starts[at - 1] === startMs) {
      this.#uses[at - 1] = (this.#uses[at - 1] ?? 0) + units;
      return;
    }
    this.#starts.splice(at, 0, startMs);
    this.#uses.splice(at, 0, units);
  }
}
