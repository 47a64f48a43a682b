import { RunningMoments } from './running-moments.ts';

/**
 * Bounds of the mean of values in [0, 1] that hold at all times together (empirical Bernstein confidence sequence with
 * predictable plug-in, Waudby-Smith and Ramdas 2024), intersected as they come.
 */
export class ConfidenceSequence {
  readonly #alpha: number;
  readonly #cap: number;
  readonly #moments = new RunningMoments();
  #lambdas = 0;
  #weighted = 0;
  #penalty = 0;
  lower = 0;
  upper = 1;

  /** @param cap of the bets, below 1. */
  constructor(alpha: number, cap = 0.5) {
    this.#alpha = alpha;
    this.#cap = cap;
  }

  add(x: number): void {
    const t = this.#moments.count + 1;
    const log = Math.log(2 / this.#alpha);
    const lambda = Math.min(Math.sqrt((2 * log) / (this.#moments.variance * t * Math.log(1 + t))), this.#cap);
    this.#lambdas += lambda;
    this.#weighted += lambda * x;
    this.#penalty += 4 * (x - this.#moments.mean) ** 2 * ((-Math.log(1 - lambda) - lambda) / 4);
    this.#moments.add(x);
    const centre = this.#weighted / this.#lambdas;
    const half = (log + this.#penalty) / this.#lambdas;
    this.lower = Math.max(this.lower, centre - half);
    this.upper = Math.min(this.upper, centre + half);
  }
}

/**
 * A lower bound of an off-policy value from the terms w·r that holds at all times (Waudby-Smith, Wu, Ramdas,
 * Karampatziakis, Mineiro 2022), with bets aimed at `target` rows. For an upper bound give it w·(1-r) and take 1 - bound.
 */
export class OffPolicyLowerBound {
  readonly #log: number;
  readonly #target: number;
  readonly #initialVariance: number;
  #count = 0;
  #sum = 0;
  #squares = 0;
  #lambdas = 0;
  #weighted = 0;
  #penalty = 0;
  /** The bound of the last row alone; may fall. */
  raw = -Infinity;
  /** The best bound so far, at least 0. */
  lower = 0;

  /** @param initialVariance the largest weight is a good choice. */
  constructor(options: { readonly alpha: number; readonly target: number; readonly initialVariance: number }) {
    this.#log = Math.log(1 / options.alpha);
    this.#target = options.target;
    this.#initialVariance = options.initialVariance;
  }

  add(weight: number, reward: number): void {
    const term = weight * reward;
    const before = this.#count === 0 ? 0 : Math.min(this.#sum / this.#count, 1);
    const variance = (this.#initialVariance + this.#squares) / (this.#count + 1);
    const lambda = Math.min(Math.sqrt((2 * this.#log) / (variance * this.#target)), 0.5);
    this.#count += 1;
    this.#sum += term;
    this.#squares += (term - Math.min(this.#sum / this.#count, 1)) ** 2;
    this.#lambdas += lambda;
    this.#weighted += lambda * term;
    this.#penalty += (term - before) ** 2 * (-Math.log(1 - lambda) - lambda);
    this.raw = (this.#weighted - this.#log - this.#penalty) / this.#lambdas;
    this.lower = Math.max(this.lower, this.raw);
  }
}

/** Likelihood ratio of a normal mixture against a mean of `nullMean`, and its always-valid p (Robbins 1970; Johari et al. 2017). */
export function normalMixtureTest({ n, mean, nullMean, variance, mixingVariance }: { n: number; mean: number; nullMean: number; variance: number; mixingVariance: number }): { ratio: number; p: number } {
  const total = variance + n * mixingVariance;
  const ratio = Math.sqrt(variance / total) * Math.exp((n * n * mixingVariance * (mean - nullMean) ** 2) / (2 * variance * total));
  return { ratio, p: Math.min(1, 1 / ratio) };
}
