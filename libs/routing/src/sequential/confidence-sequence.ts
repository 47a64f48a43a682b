import { RunningMoments, type MomentsState } from './running-moments.ts';

/** Everything that a sequence has gathered, beside its options. */
export interface ConfidenceState {
  readonly moments: MomentsState;
  readonly lambdas: number;
  readonly weighted: number;
  readonly penalty: number;
  readonly lower: number;
  readonly upper: number;
}

/**
 * Bounds of the mean of values in [0, 1] that hold at all times together (empirical Bernstein confidence sequence with
 * predictable plug-in, Waudby-Smith and Ramdas 2024), intersected as they come.
 */
export class ConfidenceSequence {
  readonly #alpha: number;
  readonly #cap: number;
  #moments = new RunningMoments();
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

  static restore(alpha: number, state: ConfidenceState, cap = 0.5): ConfidenceSequence {
    const sequence = new ConfidenceSequence(alpha, cap);
    sequence.#moments = RunningMoments.restore(state.moments);
    sequence.#lambdas = state.lambdas;
    sequence.#weighted = state.weighted;
    sequence.#penalty = state.penalty;
    sequence.lower = state.lower;
    sequence.upper = state.upper;
    return sequence;
  }

  get state(): ConfidenceState {
    return {
      moments: this.#moments.state,
      lambdas: this.#lambdas,
      weighted: this.#weighted,
      penalty: this.#penalty,
      lower: this.lower,
      upper: this.upper,
    };
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

/** Everything that a bound has gathered, beside its options. */
export interface OffPolicyBoundState {
  readonly count: number;
  readonly sum: number;
  readonly squares: number;
  readonly lambdas: number;
  readonly weighted: number;
  readonly penalty: number;
  readonly lower: number;
}

/**
 * A lower bound of an off-policy value from the terms w·r that holds at all times (Waudby-Smith, Wu, Ramdas,
 * Karampatziakis, Mineiro 2022), with bets aimed at `target` rows. For an upper bound give it w·(1-r) and take 1 -
 * bound.
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

  static restore(
    options: { readonly alpha: number; readonly target: number; readonly initialVariance: number },
    state: OffPolicyBoundState,
  ): OffPolicyLowerBound {
    const bound = new OffPolicyLowerBound(options);
    bound.#count = state.count;
    bound.#sum = state.sum;
    bound.#squares = state.squares;
    bound.#lambdas = state.lambdas;
    bound.#weighted = state.weighted;
    bound.#penalty = state.penalty;
    bound.lower = state.lower;
    return bound;
  }

  get state(): OffPolicyBoundState {
    return {
      count: this.#count,
      sum: this.#sum,
      squares: this.#squares,
      lambdas: this.#lambdas,
      weighted: this.#weighted,
      penalty: this.#penalty,
      lower: this.lower,
    };
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

/**
 * Likelihood ratio of a normal mixture against a mean of `nullMean`, and its always-valid p (Robbins 1970; Johari
 * et al. 2017).
 */
export function normalMixtureTest({
  n,
  mean,
  nullMean,
  variance,
  mixingVariance,
}: {
  n: number;
  mean: number;
  nullMean: number;
  variance: number;
  mixingVariance: number;
}): { ratio: number; p: number } {
  const total = variance + n * mixingVariance;
  const ratio =
    Math.sqrt(variance / total) * Math.exp((n * n * mixingVariance * (mean - nullMean) ** 2) / (2 * variance * total));
  return { ratio, p: Math.min(1, 1 / ratio) };
}
