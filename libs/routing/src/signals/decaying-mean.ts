/**
 * Share that the next value of a series gets after `deltaMs` since the last one, so that a burst does not
 * overweigh.
 */
export function timeAwareAlpha(deltaMs: number, tauMs: number): number {
  return -Math.expm1(-deltaMs / tauMs);
}

/** Everything that a mean is made of. */
export interface DecayingMeanState {
  readonly value: number;
  readonly start: number;
  readonly count: number;
}

/** An exponentially weighted mean that starts at 0 and can be corrected for that start. */
export class DecayingMean {
  #value = 0;
  /** Weight that is still with the start. */
  #start = 1;
  count = 0;

  static restore({ value, start, count }: DecayingMeanState): DecayingMean {
    const mean = new DecayingMean();
    mean.#value = value;
    mean.#start = start;
    mean.count = count;
    return mean;
  }

  get state(): DecayingMeanState {
    return { value: this.#value, start: this.#start, count: this.count };
  }

  /** @returns the mean after `x`, not corrected. */
  add(x: number, alpha: number): number {
    this.#value += alpha * (x - this.#value);
    this.#start *= 1 - alpha;
    this.count += 1;
    return this.#value;
  }

  get value(): number {
    return this.#value;
  }

  /** Without the pull of the start; 0 before the first value. */
  get corrected(): number {
    return this.#start === 1 ? 0 : this.#value / (1 - this.#start);
  }
}
