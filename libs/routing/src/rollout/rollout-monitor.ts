import { BettingTest, type BettingState, type BettingTestOptions } from '../sequential/betting-test.ts';
import { BREACH_HORIZON, PROMOTE_AFTER, stageAfter, type RolloutStage } from './stages.ts';

export interface RolloutSettings {
  /** Version of the candidate; samples of others are ignored. */
  readonly policyVersion: string;
  /** Mean quality of the policy that serves now, in (0, 1). */
  readonly baseline: number;
  /** How much worse is still no worse. */
  readonly margin: number;
  readonly alphaPromote: number;
  /** By stage, because everyone is hurt at full. */
  readonly alphaBreach: Readonly<Record<Exclude<RolloutStage, 'rolled_back'>, number>>;
}

/** Margin .03 is the smallest that binary quality can be shown to hold within 2,000 samples. */
export const DEFAULT_ROLLOUT = {
  margin: 0.03,
  alphaPromote: 0.05,
  alphaBreach: { shadow: 0.05, canary_1: 0.05, canary_5: 0.05, canary_25: 0.05, full: 0.01 },
} as const;

export interface RolloutSample {
  readonly decisionId: string;
  readonly policyVersion: string;
  /** Quality in [0, 1]; undefined while it is pending, which counts for neither side. */
  readonly quality: number | undefined;
}

export interface RolloutState {
  readonly stage: RolloutStage;
  readonly samples: number;
  /** Natural logarithms of the two e-values of the stage. */
  readonly logBreach: number;
  readonly logPromote: number;
}

/** What a monitor has gathered in its stage, to go on from after a restart. */
export interface RolloutMonitorState {
  readonly stage: RolloutStage;
  readonly breach: BettingState;
  readonly promote: BettingState;
}

/**
 * Watches a candidate through its stages by two e-processes that start anew in each: one gathers evidence that its
 * quality is below baseline - margin (roll back), one that it is above (promote, from 2,000 samples on). Both hold
 * at every look.
 */
export class RolloutMonitor {
  readonly #settings: RolloutSettings;
  readonly #seen = new Set<string>();
  #stage: RolloutStage;
  #breach: BettingTest;
  #promote: BettingTest;

  /** @throws RangeError when baseline - margin does not lie between 0 and 1. */
  constructor(settings: RolloutSettings, stage: RolloutStage = 'shadow') {
    this.#settings = settings;
    this.#stage = stage;
    [this.#breach, this.#promote] = this.#tests();
  }

  /**
   * A monitor that goes on where another of the same settings stood. Which decisions were counted is not in its
   * state: the caller gives none twice.
   */
  static restore(settings: RolloutSettings, { stage, breach, promote }: RolloutMonitorState): RolloutMonitor {
    const monitor = new RolloutMonitor(settings, stage);
    const [breachOptions, promoteOptions] = monitor.#options();
    monitor.#breach = BettingTest.restore(breachOptions, breach);
    monitor.#promote = BettingTest.restore(promoteOptions, promote);
    return monitor;
  }

  get saved(): RolloutMonitorState {
    return { stage: this.#stage, breach: this.#breach.state, promote: this.#promote.state };
  }

  get state(): RolloutState {
    return {
      stage: this.#stage,
      samples: this.#breach.count,
      logBreach: this.#breach.logWealth,
      logPromote: this.#promote.logWealth,
    };
  }

  /**
   * Counts a sample and gives the stage after it. A duplicate, one of another version and a pending one change
   * nothing.
   */
  add({ decisionId, policyVersion, quality }: RolloutSample): RolloutStage {
    if (
      this.#stage === 'rolled_back' ||
      policyVersion !== this.#settings.policyVersion ||
      quality === undefined ||
      this.#seen.has(decisionId)
    )
      return this.#stage;
    this.#seen.add(decisionId);
    this.#breach.add(quality);
    this.#promote.add(quality);
    const breach = this.#breach.rejected;
    return this.#enter(
      stageAfter(this.#stage, { samples: this.#breach.count, breach, promotable: this.#promote.rejected && !breach }),
    );
  }

  /** A hard fault of the candidate (errors, latency) rolls back at once. */
  breach(): RolloutStage {
    return this.#enter(stageAfter(this.#stage, { samples: this.#breach.count, breach: true, promotable: false }));
  }

  #enter(next: RolloutStage): RolloutStage {
    if (next !== this.#stage) {
      this.#stage = next;
      this.#seen.clear();
      if (next !== 'rolled_back') [this.#breach, this.#promote] = this.#tests();
    }
    return next;
  }

  #tests(): [BettingTest, BettingTest] {
    const [breach, promote] = this.#options();
    return [new BettingTest(breach), new BettingTest(promote)];
  }

  #options(): [BettingTestOptions, BettingTestOptions] {
    const { baseline, margin, alphaPromote, alphaBreach } = this.#settings;
    const nullMean = baseline - margin;
    const alpha = this.#stage === 'rolled_back' ? alphaBreach.full : alphaBreach[this.#stage];
    return [
      { nullMean, side: 'less', alpha, target: BREACH_HORIZON },
      { nullMean, side: 'greater', alpha: alphaPromote, target: PROMOTE_AFTER },
    ];
  }
}
