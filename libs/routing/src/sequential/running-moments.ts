/**
 * Mean and variance of what was seen, regularised as if one observation of 1/2 with variance 1/4 had come first
 * (Waudby-Smith and Ramdas 2024). Read before `add`, it is predictable: it knows nothing of the next value.
 */
export class RunningMoments {
  #count = 0;
  #sum = 0;
  #squares = 0;

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
