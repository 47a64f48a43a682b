import { OffPolicyLowerBound, type OffPolicyBoundState } from '../sequential/confidence-sequence.ts';
import { PROMOTE_AFTER } from './stages.ts';

/** Effective rows below which nothing is concluded. */
const LEAST_EFFECTIVE = 200;
/** What the weight of a row may be at the most that is expected; a larger one only widens the bounds. */
const INITIAL_VARIANCE = 1;

export interface ShadowSettings {
  readonly margin: number;
  readonly alphaPromote: number;
  readonly alphaBreach: number;
}

/** What a monitor has gathered, to go on from after a restart. */
export interface ShadowState {
  readonly samples: number;
  readonly unsupported: number;
  readonly sumWeights: number;
  readonly sumSquares: number;
  readonly sumLogged: number;
  readonly difference: OffPolicyBoundState;
  readonly shortfall: OffPolicyBoundState;
}

/**
 * Watches a candidate that serves nobody yet. A shadow has no rewards of its own, so its samples are rated
 * decisions of the control, weighted by what the candidate would have done: a lower bound of the difference of both
 * values over the same rows, and an upper bound of the candidate's value, both valid at every look.
 */
export class ShadowMonitor {
  readonly #settings: ShadowSettings;
  #difference: OffPolicyLowerBound;
  #shortfall: OffPolicyLowerBound;
  #samples = 0;
  #unsupported = 0;
  #sumWeights = 0;
  #sumSquares = 0;
  #sumLogged = 0;

  constructor(settings: ShadowSettings) {
    this.#settings = settings;
    this.#difference = new OffPolicyLowerBound(bound(settings.alphaPromote));
    this.#shortfall = new OffPolicyLowerBound(bound(settings.alphaBreach));
  }

  static restore(settings: ShadowSettings, state: ShadowState): ShadowMonitor {
    const monitor = new ShadowMonitor(settings);
    monitor.#difference = OffPolicyLowerBound.restore(bound(settings.alphaPromote), state.difference);
    monitor.#shortfall = OffPolicyLowerBound.restore(bound(settings.alphaBreach), state.shortfall);
    monitor.#samples = state.samples;
    monitor.#unsupported = state.unsupported;
    monitor.#sumWeights = state.sumWeights;
    monitor.#sumSquares = state.sumSquares;
    monitor.#sumLogged = state.sumLogged;
    return monitor;
  }

  get state(): ShadowState {
    return {
      samples: this.#samples,
      unsupported: this.#unsupported,
      sumWeights: this.#sumWeights,
      sumSquares: this.#sumSquares,
      sumLogged: this.#sumLogged,
      difference: this.#difference.state,
      shortfall: this.#shortfall.state,
    };
  }

  /**
   * @param weight probability of the chosen arm under the candidate over the logged one.
   * @param unsupported probability that the candidate gives to arms which the log could not have drawn.
   */
  add({ weight, reward, unsupported }: { weight: number; reward: number; unsupported: number }): void {
    this.#samples += 1;
    this.#unsupported += unsupported;
    this.#sumWeights += weight;
    this.#sumSquares += weight * weight;
    this.#sumLogged += reward;
    // 1 + (w - 1) r is never negative, and its mean is 1 more than the difference of the two values.
    this.#difference.add(1, 1 + (weight - 1) * reward);
    this.#shortfall.add(weight, 1 - reward);
  }

  get samples(): number {
    return this.#samples;
  }

  get effective(): number {
    return this.#sumSquares === 0 ? 0 : this.#sumWeights ** 2 / this.#sumSquares;
  }

  /** Candidate less control at least, at this confidence. */
  get differenceLower(): number {
    return this.#samples === 0 ? -1 : this.#difference.lower - 1;
  }

  /** Value of the candidate at most. */
  get upper(): number {
    return 1 - this.#shortfall.lower;
  }

  get loggedMean(): number {
    return this.#samples === 0 ? Number.NaN : this.#sumLogged / this.#samples;
  }

  /** Mean probability that the candidate gives to arms outside of the log's support. */
  get deficiency(): number {
    return this.#samples === 0 ? 0 : this.#unsupported / this.#samples;
  }

  /** The candidate is held to be worse than the margin allows. */
  get breach(): boolean {
    return this.#samples >= LEAST_EFFECTIVE && this.upper < this.loggedMean - this.#settings.margin;
  }

  /** Enough rows, enough overlap, and the candidate is no worse than the margin. */
  get promotable(): boolean {
    return (
      this.#samples >= PROMOTE_AFTER &&
      this.#unsupported === 0 &&
      this.effective >= LEAST_EFFECTIVE &&
      this.differenceLower > -this.#settings.margin &&
      !this.breach
    );
  }
}

const bound = (alpha: number) => ({ alpha, target: PROMOTE_AFTER, initialVariance: INITIAL_VARIANCE });
