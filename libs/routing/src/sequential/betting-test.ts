import { RunningMoments, type MomentsState } from './running-moments.ts';

export interface BettingTestOptions {
  /** The mean under the null hypothesis, strictly between 0 and 1. */
  readonly nullMean: number;
  /**
   * `less` gathers evidence that the mean lies below the null (a breach), `greater` that it lies above (no worse
   * than).
   */
  readonly side: 'less' | 'greater';
  /** Error that is accepted over the whole, however often one looks. */
  readonly alpha: number;
  /** Number of samples at which power is wanted; without one the bets adapt (aGRAPA). */
  readonly target?: number;
}

/** Everything that a test has gathered, beside its options. */
export interface BettingState {
  readonly moments: MomentsState;
  readonly logWealth: number;
  readonly lastBet: number;
}

/**
 * A test of the mean of values in [0, 1] by betting against it (Waudby-Smith and Ramdas 2024). Its wealth E is an
 * e-process: by Ville's inequality it passes 1/α under the null with probability at most α, at any time, whoever peeks.
 */
export class BettingTest {
  readonly #options: BettingTestOptions;
  readonly #cap: number;
  #moments = new RunningMoments();
  #logWealth = 0;
  #lastBet = 0;

  /** @throws RangeError when the null mean, alpha or target cannot be. */
  constructor(options: BettingTestOptions) {
    const { nullMean, alpha, target, side } = options;
    if (!(nullMean > 0 && nullMean < 1))
      throw new RangeError(`the null mean must lie between 0 and 1, not ${nullMean}`);
    if (!(alpha > 0 && alpha < 1)) throw new RangeError(`alpha must lie between 0 and 1, not ${alpha}`);
    if (target !== undefined && !(target >= 1)) throw new RangeError(`the target must be at least 1, not ${target}`);
    this.#options = options;
    this.#cap = 0.5 / (side === 'less' ? 1 - nullMean : nullMean);
  }

  /** A test that goes on where another of the same options stood. */
  static restore(options: BettingTestOptions, { moments, logWealth, lastBet }: BettingState): BettingTest {
    const test = new BettingTest(options);
    test.#moments = RunningMoments.restore(moments);
    test.#logWealth = logWealth;
    test.#lastBet = lastBet;
    return test;
  }

  get state(): BettingState {
    return { moments: this.#moments.state, logWealth: this.#logWealth, lastBet: this.#lastBet };
  }

  /** @throws RangeError for a value outside [0, 1]. */
  add(x: number): void {
    if (!(x >= 0 && x <= 1)) throw new RangeError(`a value must lie in [0, 1], not ${x}`);
    const { nullMean, side } = this.#options;
    this.#lastBet = this.#bet();
    this.#logWealth += Math.log1p(this.#lastBet * (side === 'less' ? nullMean - x : x - nullMean));
    this.#moments.add(x);
  }

  get count(): number {
    return this.#moments.count;
  }

  /** Natural logarithm of the wealth; the wealth itself overflows on long clear streams. */
  get logWealth(): number {
    return this.#logWealth;
  }

  get wealth(): number {
    return Math.exp(this.#logWealth);
  }

  /** The bet that was laid on the last value. */
  get lastBet(): number {
    return this.#lastBet;
  }

  /** The null hypothesis is rejected now. */
  get rejected(): boolean {
    return this.#logWealth >= -Math.log(this.#options.alpha);
  }

  #bet(): number {
    const { nullMean, side, alpha, target } = this.#options;
    const { mean, variance } = this.#moments;
    if (target !== undefined) return Math.min(Math.sqrt((2 * Math.log(1 / alpha)) / (variance * target)), this.#cap);
    const gap = side === 'less' ? nullMean - mean : mean - nullMean;
    return Math.min(Math.max(gap / (variance + gap * gap), 0), this.#cap);
  }
}
