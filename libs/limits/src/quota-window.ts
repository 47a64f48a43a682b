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

/** Never changed. */
const NONE: number[] = [];
const NEVER: Period = { startMs: -Infinity, endMs: -Infinity };

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
  /**
   * Start and use of each step in turn, oldest first. Made for the first use and no larger: most windows of most
   * workspaces hold one step.
   */
  #steps: number[] = NONE;
  /** The step that `roll` came to last; windows that are cut alike may share it. */
  #step: Period = NEVER;

  constructor(span: WindowSpan) {
    this.#span = span;
  }

  /** Brings the window to `nowMs`; nearly always one comparison. */
  roll(nowMs: number): void {
    if (nowMs < this.#step.endMs) return;
    this.#step = this.#span.stepAt(nowMs);
    const steps = this.#steps;
    let expired = 0;
    for (; expired < steps.length && this.#span.forgottenAt(steps[expired] ?? 0) <= nowMs; expired += 2)
      this.used -= steps[expired + 1] ?? 0;
    if (expired > 0) steps.splice(0, expired);
  }

  /** Adds use to the step of `nowMs`. */
  add(units: number, nowMs: number): void {
    this.roll(nowMs);
    if (units === 0) return;
    this.#addToStep(this.#step.startMs, units);
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
    for (let i = 0; i < this.#steps.length; i += 2) {
      excess -= this.#steps[i + 1] ?? 0;
      if (excess <= 0) return this.#span.forgottenAt(this.#steps[i] ?? nowMs);
    }
    return this.#span.forgottenAt(this.#step.startMs);
  }

  /** When the window next forgets something, epoch milliseconds; for an empty one when use of now would be. */
  resetAt(): number {
    return this.#span.forgottenAt(this.#steps[0] ?? this.#step.startMs);
  }

  /** Replaces all use by these steps. */
  load(steps: Iterable<readonly [startMs: number, used: number]>, nowMs: number): void {
    this.used = 0;
    this.#steps = NONE;
    for (const [startMs, used] of steps) this.addAt(used, startMs, nowMs);
  }

  /** Makes the sum of all use this many units: more goes to the step of `nowMs`, less is taken from the oldest. */
  loadTotal(units: number, nowMs: number): void {
    this.roll(nowMs);
    let less = this.used - units;
    if (less < 0) this.add(-less, nowMs);
    for (let i = 1; i < this.#steps.length && less > 0; i += 2) {
      const taken = Math.min(less, this.#steps[i] ?? 0);
      this.#steps[i] = (this.#steps[i] ?? 0) - taken;
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
    const pairs: [number, number][] = [];
    for (let i = 0; i < this.#steps.length; i += 2) pairs.push([this.#steps[i] ?? 0, this.#steps[i + 1] ?? 0]);
    return pairs;
  }

  #addToStep(startMs: number, units: number): void {
    this.used += units;
    const steps = this.#steps;
    if (steps.length === 0) {
      this.#steps = [startMs, units];
      return;
    }
    let at = steps.length;
    while (at > 0 && (steps[at - 2] ?? 0) > startMs) at -= 2;
    if (at > 0 && steps[at - 2] === startMs) steps[at - 1] = (steps[at - 1] ?? 0) + units;
    else steps.splice(at, 0, startMs, units);
  }
}
