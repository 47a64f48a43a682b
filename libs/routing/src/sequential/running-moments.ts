/** Everything that the moments are made of. */
export interface MomentsState {
  readonly count: number;
  readonly sum: number;
  readonly squares: number;
}

/**
 * Mean and variance of what was seen, regularised as if one observation of 1/2 with variance 1/4 had come first
 * (Waudby-Smith and Ramdas 2024). Read before `add`, it is predictable: it knows nothing of the next value.
 */
export class RunningMoments {
  #count = 0;
  #sum = 0;
  #squares = 0;

  static restore({ count, sum, squares }: MomentsState): RunningMoments {
    const moments = new RunningMoments();
    moments.#count = count;
    moments.#sum = sum;
    moments.#squares = squares;
    return moments;
  }

  get state(): MomentsState {
    return { count: this.#count, sum: this.#sum, squares: this.#squares };
  }

  get count(): number {
    return this.#count;
  }

  get mean(): number {
    return (0.5 + this.#sum) / (this.#count + 1);
  }

  get variance(): number {
    return (0.25 + this.#squares) / (this.#count + 1);
  }

  add(x: number): void {
    this.#count += 1;
    this.#sum += x;
    this.#squares += (x - this.mean) ** 2;
  }
}
