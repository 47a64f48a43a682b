import type { QuotaSpan } from '@sluice/contracts';
import { calendarOf, type Period } from './calendar.ts';

/** How a window cuts time into steps and when it forgets one. */
export interface WindowSpan {
  /** The step that holds an instant. */
  stepAt(ms: number): Period;
  /** When the use of the step that starts at `startMs` is forgotten. */
  forgottenAt(startMs: number): number;
  /** Forgotten steps that are kept, for a clock that steps over the end of a period and back. */
  readonly kept: number;
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
    return {
      stepAt: (ms) => calendar.periodAt(ms),
      forgottenAt: (startMs) => calendar.periodAt(startMs).endMs,
      kept: 2,
    };
  }
  const stepMs = Math.ceil((span.seconds * 1000) / span.steps);
  const keepMs = stepMs * (span.steps + 1);
  return {
    stepAt(ms) {
      const startMs = Math.floor(ms / stepMs) * stepMs;
      return { startMs, endMs: startMs + stepMs };
    },
    forgottenAt: (startMs) => startMs + keepMs,
    kept: span.steps + 1,
  };
}

/** Never changed. */
const NONE: number[] = [];
const NEVER: Period = { startMs: -Infinity, endMs: -Infinity };

/**
 * The counter of one quota window: what was used, by step, and beside it what running calls have reserved. Whole units.
 * Times are epoch milliseconds. The clock may step: steps that lie ahead of it do not count yet, and those that it
 * has just forgotten count again when it comes back.
 */
export class QuotaCounter {
  /** Sum over the steps that count. Current after `roll`. */
  used = 0;
  /** Held by running calls; bound to no step. */
  reserved = 0;
  readonly #span: WindowSpan;
  /**
   * Start and use of each step in turn, oldest first: some that are forgotten, those that count, those ahead of the
   * clock. Made for the first use and no larger: most windows of most workspaces hold one step.
   */
  #steps: number[] = NONE;
  /** Place of the oldest step that counts. */
  #first = 0;
  /** The step that `roll` came to last; windows that are cut alike may share it. */
  #step: Period = NEVER;

  constructor(span: WindowSpan) {
    this.#span = span;
  }

  /** Brings the window to `nowMs`; nearly always two comparisons. */
  roll(nowMs: number): void {
    if (nowMs < this.#step.endMs && nowMs >= this.#step.startMs) return;
    this.#step = this.#span.stepAt(nowMs);
    this.#recount(nowMs);
  }

  /** Start of the step that holds an instant. */
  stepStart(ms: number): number {
    return this.#span.stepAt(ms).startMs;
  }

  /** Adds use to the step of `nowMs`. */
  add(units: number, nowMs: number): void {
    this.roll(nowMs);
    if (units !== 0) this.#addToStep(this.#step.startMs, units);
  }

  /** Adds use of another time; what the window has forgotten already is left out. */
  addAt(units: number, atMs: number, nowMs: number): void {
    this.roll(nowMs);
    const { startMs } = this.#span.stepAt(atMs);
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
    for (let i = this.#first; this.#counts(i); i += 2) {
      excess -= this.#steps[i + 1] ?? 0;
      if (excess <= 0) return this.#span.forgottenAt(this.#steps[i] ?? nowMs);
    }
    return this.#span.forgottenAt(this.#step.startMs);
  }

  /** When the window next forgets something, epoch milliseconds; for an empty one when use of now would be. */
  resetAt(): number {
    const startMs = this.#counts(this.#first) ? this.#steps[this.#first] : undefined;
    return this.#span.forgottenAt(startMs ?? this.#step.startMs);
  }

  /** Replaces all use by these steps, also such as do not count now. */
  load(steps: Iterable<readonly [startMs: number, used: number]>, nowMs: number): void {
    this.#steps = NONE;
    this.#first = 0;
    this.used = 0;
    this.#step = this.#span.stepAt(nowMs);
    for (const [startMs, used] of steps) this.#addToStep(this.#span.stepAt(startMs).startMs, used);
    this.#recount(nowMs);
  }

  /** Adds these units, which may be negative, to the steps that they name, also to such as do not count now. */
  amend(deltas: Iterable<readonly [startMs: number, units: number]>, nowMs: number): void {
    this.roll(nowMs);
    for (const [startMs, units] of deltas) this.#addToStep(this.#span.stepAt(startMs).startMs, units);
    this.#steps = this.current()
      .filter(([, used]) => used !== 0)
      .flat();
    this.#recount(nowMs);
  }

  /** Makes the sum of all use this many units: more goes to the step of `nowMs`, less is taken from the oldest. */
  loadTotal(units: number, nowMs: number): void {
    this.roll(nowMs);
    let less = this.used - units;
    if (less < 0) this.add(-less, nowMs);
    for (let i = this.#first; this.#counts(i) && less > 0; i += 2) {
      const taken = Math.min(less, this.#steps[i + 1] ?? 0);
      this.#steps[i + 1] = (this.#steps[i + 1] ?? 0) - taken;
      this.used -= taken;
      less -= taken;
    }
  }

  /** Start and use of each step, oldest first; also of those that do not count now. */
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

  /** True when the step at this place is not ahead of the clock. */
  #counts(at: number): boolean {
    return at < this.#steps.length && (this.#steps[at] ?? 0) <= this.#step.startMs;
  }

  #recount(nowMs: number): void {
    const steps = this.#steps;
    let first = 0;
    while (first < steps.length && this.#span.forgottenAt(steps[first] ?? 0) <= nowMs) first += 2;
    const tooMany = first - 2 * this.#span.kept;
    if (tooMany > 0) {
      steps.splice(0, tooMany);
      first -= tooMany;
    }
    this.#first = first;
    this.used = 0;
    for (let i = first; this.#counts(i); i += 2) this.used += steps[i + 1] ?? 0;
  }

  #addToStep(startMs: number, units: number): void {
    const steps = this.#steps;
    if (steps.length === 0) {
      this.#steps = [startMs, units];
      this.#first = 0;
    } else {
      let at = steps.length;
      while (at > 0 && (steps[at - 2] ?? 0) > startMs) at -= 2;
      if (at > 0 && steps[at - 2] === startMs) steps[at - 1] = (steps[at - 1] ?? 0) + units;
      else steps.splice(at, 0, startMs, units);
    }
    if (startMs <= this.#step.startMs) this.used += units;
  }
}
