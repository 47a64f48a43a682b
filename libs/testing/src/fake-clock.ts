import type { Clock } from '@sluice/contracts';

export interface FakeTimer {
  readonly id: number;
}

/** A clock that moves only when told to, with timers that fire as it passes them. */
export interface FakeClock extends Clock {
  /**
   * Moves time forward by `ms` and runs every timer that falls due, in order of due time (ties in order of
   * creation), including timers that those callbacks set. Each callback sees its own due time as `now()`.
   * Throws a RangeError when `ms` is negative or not finite.
   */
  advance(ms: number): void;
  /** Sets the wall clock `ms` ahead (or back, when negative); durations, and timers, stay as they are. */
  step(ms: number): void;
  /** Runs `callback` once, `delayMs` from now; a negative delay counts as 0. Nothing runs before `advance`. */
  setTimeout(callback: () => void, delayMs: number): FakeTimer;
  /** Forgets a timer; one that has fired or is unknown is ignored. */
  clearTimeout(timer: FakeTimer | undefined): void;
  /** How many timers are waiting: 0 after a test shows that nothing leaked. */
  pendingTimers(): number;
}

interface Pending {
  readonly id: number;
  readonly dueMs: number;
  readonly callback: () => void;
}

/** Creates a clock that reads `startMs` (Unix epoch); its monotonic reading starts at 0. */
export function createFakeClock(startMs = 0): FakeClock {
  let elapsedMs = 0;
  let setByMs = 0;
  let nextId = 1;
  const pending = new Map<number, Pending>();

  function earliestDueBy(limitMs: number): Pending | undefined {
    let earliest: Pending | undefined;
    for (const timer of pending.values()) {
      if (timer.dueMs <= limitMs && (earliest === undefined || timer.dueMs < earliest.dueMs)) earliest = timer;
    }
    return earliest;
  }

  return {
    now: () => startMs + setByMs + elapsedMs,
    monotonic: () => elapsedMs,
    advance(ms) {
      if (!Number.isFinite(ms) || ms < 0) throw new RangeError(`cannot advance by ${ms} ms`);
      const targetMs = elapsedMs + ms;
      for (let timer = earliestDueBy(targetMs); timer !== undefined; timer = earliestDueBy(targetMs)) {
        pending.delete(timer.id);
        elapsedMs = Math.max(elapsedMs, timer.dueMs);
        timer.callback();
      }
      elapsedMs = targetMs;
    },
    step(ms) {
      setByMs += ms;
    },
    setTimeout(callback, delayMs) {
      const id = nextId++;
      pending.set(id, { id, dueMs: elapsedMs + Math.max(0, delayMs), callback });
      return { id };
    },
    clearTimeout(timer) {
      if (timer !== undefined) pending.delete(timer.id);
    },
    pendingTimers: () => pending.size,
  };
}
