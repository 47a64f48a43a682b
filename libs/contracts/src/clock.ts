/** The only source of time in logic: injected, so that tests set it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. Fractions are allowed. May step when the wall clock is set. */
  now(): number;
  /** Milliseconds on a clock that never steps back; its zero means nothing. For durations and buckets. */
  monotonic(): number;
}

/** The process's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
