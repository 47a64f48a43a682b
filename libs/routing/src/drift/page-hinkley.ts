/** Everything that a detector has gathered, beside its options. */
export interface PageHinkleyState {
  readonly count: number;
  readonly sum: number;
  readonly cumulative: number;
  readonly lowest: number;
}

/** Finds a fall of a stream's mean (Page 1954; Hinkley 1971). */
export class PageHinkley {
  readonly #delta: number;
  readonly #threshold: number;
  readonly #minimum: number;
  #count = 0;
  #sum = 0;
  #cumulative = 0;
  #lowest = 0;

  /**
   * @param delta fall that is tolerated.
   * @param threshold of the statistic; tune it for the wanted time between false alarms.
   * @param minimum values before the first alarm.
   */
  constructor({ delta, threshold, minimum }: { delta: number; threshold: number; minimum: number }) {
    this.#delta = delta;
    this.#threshold = threshold;
    this.#minimum = minimum;
  }

  static restore(
    options: { delta: number; threshold: number; minimum: number },
    { count, sum, cumulative, lowest }: PageHinkleyState,
  ): PageHinkley {
    const detector = new PageHinkley(options);
    detector.#count = count;
    detector.#sum = sum;
    detector.#cumulative = cumulative;
    detector.#lowest = lowest;
    return detector;
  }

  get state(): PageHinkleyState {
    return { count: this.#count, sum: this.#sum, cumulative: this.#cumulative, lowest: this.#lowest };
  }

  /** @returns whether the mean is held to have fallen. */
  add(x: number): boolean {
    this.#count += 1;
    this.#sum += x;
    this.#cumulative += this.#sum / this.#count - x - this.#delta;
    this.#lowest = this.#count === 1 ? this.#cumulative : Math.min(this.#lowest, this.#cumulative);
    return this.#count >= this.#minimum && this.statistic > this.#threshold;
  }

  get statistic(): number {
    return this.#cumulative - this.#lowest;
  }
}

/** Difference of the means of two windows from which on ADWIN cuts (Bifet and Gavaldà 2007). */
export function adwinCut({
  older,
  newer,
  variance,
  delta,
}: {
  older: number;
  newer: number;
  variance: number;
  delta: number;
}): number {
  const m = 1 / (1 / older + 1 / newer);
  const log = Math.log((2 * Math.log(older + newer)) / delta);
  return Math.sqrt((2 / m) * variance * log) + (2 / (3 * m)) * log;
}
