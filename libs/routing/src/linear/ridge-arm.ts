import { dot, inverse, inverseResidual, multiply, scaledIdentity, type Matrix } from './cholesky.ts';

/** Updates after which the inverse is made anew from the sums, whatever it looks like. */
const REFACTOR_EVERY = 10_000;

/** What a model of one arm says of one context. */
export interface Prediction {
  /** Expected reward. */
  readonly mean: number;
  /** Standard width of the estimate; times alpha on either side for a bound. */
  readonly width: number;
}

/** Everything that an arm is made of, JSON-safe. Restoring it gives the same predictions to the last bit. */
export interface RidgeState {
  readonly a: Matrix;
  readonly aInverse: Matrix;
  readonly b: readonly number[];
  readonly pulls: number;
  readonly sinceRefactor: number;
}

/**
 * Ridge regression of the reward of one arm, updated one observation at a time (LinUCB disjoint: Li, Chu, Langford,
 * Schapire 2010). Keeps A, its inverse by Sherman and Morrison (1950), and b; the inverse is made anew by Cholesky
 * every 10,000 updates and whenever rounding shows. It forgets by `forget` alone, which never scales the inverse:
 * that winds up to infinity. For a stream that forgets at every step there is `DiscountedRidge`.
 */
export class RidgeArm {
  #a: Matrix;
  #aInverse: Matrix;
  #b: number[];
  #theta: number[];
  #sinceRefactor: number;
  pulls: number;

  private constructor(state: RidgeState) {
    this.#a = state.a.map((row) => [...row]);
    this.#aInverse = state.aInverse.map((row) => [...row]);
    this.#b = [...state.b];
    this.#sinceRefactor = state.sinceRefactor;
    this.pulls = state.pulls;
    this.#theta = multiply(this.#aInverse, this.#b);
  }

  /** @param lambda ridge penalty, above 0. */
  static untrained(dimension: number, lambda: number): RidgeArm {
    return RidgeArm.withPrior(new Array<number>(dimension).fill(0), lambda);
  }

  /**
   * An arm that begins with the coefficients `theta0`, believed as much as `strength` observations in each direction.
   *
   * @throws RangeError unless the strength is above 0.
   */
  static withPrior(theta0: readonly number[], strength: number): RidgeArm {
    if (!(strength > 0)) throw new RangeError(`the strength of a prior must be above 0, not ${strength}`);
    const size = theta0.length;
    return new RidgeArm({
      a: scaledIdentity(size, strength),
      aInverse: scaledIdentity(size, 1 / strength),
      b: theta0.map((value) => value * strength),
      pulls: 0,
      sinceRefactor: 0,
    });
  }

  static restore(state: RidgeState): RidgeArm {
    return new RidgeArm(state);
  }

  get state(): RidgeState {
    return {
      a: this.#a.map((row) => [...row]),
      aInverse: this.#aInverse.map((row) => [...row]),
      b: [...this.#b],
      pulls: this.pulls,
      sinceRefactor: this.#sinceRefactor,
    };
  }

  get theta(): readonly number[] {
    return this.#theta;
  }

  get aInverse(): readonly (readonly number[])[] {
    return this.#aInverse;
  }

  /** Largest element of |A A⁻¹ - I|. */
  get residual(): number {
    return inverseResidual(this.#a, this.#aInverse);
  }

  predict(x: readonly number[]): Prediction {
    return { mean: dot(x, this.#theta), width: Math.sqrt(Math.max(0, this.#quadratic(x))) };
  }

  /**
   * Learns one observation.
   *
   * @param weight its importance; 1 for a plain one.
   * @returns the gain in information, log(1 + w xᵀA⁻¹x).
   * @throws RangeError when a number is not finite or the dimension is another.
   */
  update(x: readonly number[], reward: number, weight = 1): number {
    if (x.length !== this.#b.length)
      throw new RangeError(`the context has ${x.length} features, the arm has ${this.#b.length}`);
    if (!x.every(Number.isFinite) || !Number.isFinite(reward) || !(weight > 0 && Number.isFinite(weight)))
      throw new RangeError('an observation must be finite');
    const u = multiply(this.#aInverse, x);
    const denominator = 1 + weight * dot(x, u);
    for (let i = 0; i < x.length; i += 1) {
      const row = this.#a[i] as number[];
      const inverseRow = this.#aInverse[i] as number[];
      for (let j = 0; j < x.length; j += 1) {
        row[j] = (row[j] as number) + weight * (x[i] as number) * (x[j] as number);
        inverseRow[j] = (inverseRow[j] as number) - (weight * (u[i] as number) * (u[j] as number)) / denominator;
      }
      this.#b[i] = (this.#b[i] as number) + weight * reward * (x[i] as number);
    }
    this.pulls += 1;
    this.#sinceRefactor += 1;
    // In exact arithmetic the denominator is at least 1; below it only rounding can have brought it.
    if (this.#sinceRefactor >= REFACTOR_EVERY || !(denominator >= 1)) this.refactor();
    else this.#theta = multiply(this.#aInverse, this.#b);
    return Math.log(denominator);
  }

  /**
   * Discounts what was learned: A := keep A + (1 - keep) penalty I, and b so that the coefficients stay. Certainty
   * goes down to that of `penalty` observations in each direction, the estimate is kept where nothing new is said.
   * Of full rank, therefore solved by Cholesky.
   *
   * @param keep share that is left, in (0, 1).
   * @throws RangeError for another share, or a penalty that is not above 0.
   */
  forget(keep: number, penalty: number): void {
    if (!(keep > 0 && keep < 1) || !(penalty > 0))
      throw new RangeError(
        `what is kept must lie between 0 and 1, not ${keep}, and the penalty above 0, not ${penalty}`,
      );
    const put = (1 - keep) * penalty;
    this.#a = this.#a.map((row, i) => row.map((value, j) => keep * value + (i === j ? put : 0)));
    this.#b = this.#b.map((value, i) => keep * value + put * (this.#theta[i] as number));
    this.refactor();
  }

  /** Makes the inverse anew from the sums. */
  refactor(): void {
    this.#aInverse = inverse(this.#a);
    this.#theta = multiply(this.#aInverse, this.#b);
    this.#sinceRefactor = 0;
  }

  #quadratic(x: readonly number[]): number {
    let sum = 0;
    for (let i = 0; i < x.length; i += 1) sum += (x[i] as number) * dot(this.#aInverse[i] as number[], x);
    return sum;
  }
}
