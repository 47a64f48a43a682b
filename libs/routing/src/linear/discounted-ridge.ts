import { cholesky, dot, scaledIdentity, solveWith, type Matrix } from './cholesky.ts';
import type { Prediction } from './ridge-arm.ts';

/**
 * Ridge regression that forgets (D-LinUCB: Russac, Vernade, Cappé 2019). The penalty is put back at each step, so
 * that it stays `lambda` for ever; without that the inverse winds up to infinity. Each update is of full rank,
 * therefore it is solved by Cholesky and never by Sherman and Morrison. The effective window is 1 / (1 - gamma)
 * observations.
 */
export class DiscountedRidge {
  readonly #gamma: number;
  readonly #lambda: number;
  readonly #a: Matrix;
  /** The same sums discounted by gamma squared, for the width. */
  readonly #aSquared: Matrix;
  readonly #b: number[];

  /** @throws RangeError unless 0 < gamma < 1 and lambda > 0. */
  constructor(dimension: number, lambda: number, gamma: number) {
    if (!(gamma > 0 && gamma < 1)) throw new RangeError(`gamma must lie between 0 and 1, not ${gamma}`);
    if (!(lambda > 0)) throw new RangeError(`lambda must be above 0, not ${lambda}`);
    this.#gamma = gamma;
    this.#lambda = lambda;
    this.#a = scaledIdentity(dimension, lambda);
    this.#aSquared = scaledIdentity(dimension, lambda);
    this.#b = new Array<number>(dimension).fill(0);
  }

  get a(): readonly (readonly number[])[] {
    return this.#a;
  }

  get b(): readonly number[] {
    return this.#b;
  }

  get theta(): number[] {
    return solveWith(cholesky(this.#a), this.#b);
  }

  get effectiveWindow(): number {
    return 1 / (1 - this.#gamma);
  }

  update(x: readonly number[], reward: number): void {
    discount(this.#a, this.#gamma, this.#lambda, x);
    discount(this.#aSquared, this.#gamma * this.#gamma, this.#lambda, x);
    for (let i = 0; i < x.length; i += 1) this.#b[i] = this.#gamma * (this.#b[i] as number) + reward * (x[i] as number);
  }

  predict(x: readonly number[]): Prediction {
    const lower = cholesky(this.#a);
    const u = solveWith(lower, x);
    let sum = 0;
    for (let i = 0; i < u.length; i += 1) sum += (u[i] as number) * dot(this.#aSquared[i] as number[], u);
    return { mean: dot(x, solveWith(lower, this.#b)), width: Math.sqrt(Math.max(0, sum)) };
  }
}

function discount(matrix: Matrix, gamma: number, lambda: number, x: readonly number[]): void {
  for (let i = 0; i < x.length; i += 1) {
    const row = matrix[i] as number[];
    for (let j = 0; j < x.length; j += 1)
      row[j] = gamma * (row[j] as number) + (x[i] as number) * (x[j] as number) + (i === j ? (1 - gamma) * lambda : 0);
  }
}
