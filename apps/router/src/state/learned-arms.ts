import {
  addMoment,
  Adwin,
  momentError,
  NO_MOMENTS,
  PageHinkley,
  PRIOR_STRENGTH,
  RidgeArm,
  priorTheta,
  standardise,
  DEFAULT_FEATURES,
  type AdwinState,
  type DecayingMoments,
  type PageHinkleyState,
  type RidgeState,
} from '@sluice/routing';
import type { SnapshotArm } from '@sluice/contracts';

/** Rewards that one tenant may always teach an arm; beyond, no more than all others together have given. */
export const FREE_INFLUENCE = 1_000;
/** Tuned for about 50,000 rewards between false alarms on a steady stream of graded rewards. */
export const DRIFT_OPTIONS = { delta: 0.05, threshold: 15, minimum: 100 };

/** The newest calibration looks back on about a hundred rewards. */
const NEWEST = 0.01;

interface ArmRecord {
  readonly ridge: RidgeArm;
  /** Rewards that each tenant gave, and how many of them were learned. */
  readonly influence: Map<string, { given: number; learned: number }>;
  /** Sum over tenants. */
  learned: number;
  /** Rewards that were not learned, because one tenant had its share. */
  capped: number;
  rewards: number;
  rewardSum: number;
  /** Sum of reward less prediction, of predictions that decisions were made by. */
  residualSum: number;
  drift: PageHinkley;
  alarms: number;
  /** Of the newest alarm, with the rewards until then. */
  alarmedAtMs: number | undefined;
  alarmedAt: number;
  /** The newest residuals that have one mean. */
  window: Adwin;
  cuts: number;
  cutAtMs: number | undefined;
  /** Rewards until the newest cut. */
  cutAt: number;
  /** Of the newest residuals. */
  newest: DecayingMoments;
  /** Rewards that were not learned because the policy was frozen. */
  withheld: number;
}

export interface ArmState {
  readonly model: string;
  readonly ridge: RidgeState;
  readonly influence: readonly (readonly [tenant: string, given: number, learned: number])[];
  readonly capped: number;
  readonly rewards: number;
  readonly rewardSum: number;
  readonly residualSum: number;
  readonly drift: PageHinkleyState;
  readonly alarms?: number;
  readonly alarmedAtMs?: number;
  readonly alarmedAt?: number;
  /** Absent in what was saved before there was one. */
  readonly window?: AdwinState;
  readonly cuts?: number;
  readonly cutAtMs?: number;
  readonly cutAt?: number;
  readonly newest?: DecayingMoments;
  readonly withheld?: number;
}

export interface ArmSummary {
  readonly model: string;
  readonly learned: number;
  readonly capped: number;
  readonly rewards: number;
  readonly meanReward: number | undefined;
  /** Mean of reward less prediction. */
  readonly calibration: number;
  readonly withheld: number;
  readonly driftStatistic: number;
  readonly alarms: number;
  readonly alarmedAtMs: number | undefined;
  readonly alarmedAt: number;
  /** Mean of about the newest hundred residuals, its standard error, and how many there were. */
  readonly newest: { readonly n: number; readonly mean: number; readonly error: number };
  /** The newest residuals that have one mean; `cuts`: how often older ones were dropped for another mean. */
  readonly recent: {
    readonly n: number;
    readonly mean: number;
    readonly cuts: number;
    readonly cutAtMs: number | undefined;
    readonly cutAt: number;
  };
}

/** How a reward is learned while there is drift. */
export interface LearningMode {
  /** Share that it leaves of what the arm learned before; 1 forgets nothing. */
  readonly keep: number;
  /** It is counted and not learned. */
  readonly frozen: boolean;
}

const PLAINLY: LearningMode = { keep: 1, frozen: false };

/** The models that learn from live rewards, one arm each. */
export interface LearnedArms {
  /** Gives models without an arm one with the prior of their tier. */
  see(models: readonly { readonly id: string; readonly tier: number }[]): void;
  has(model: string): boolean;
  learn(
    observation: {
      readonly model: string;
      readonly tenant: string;
      readonly features: readonly number[];
      readonly reward: number;
      readonly predicted: number | undefined;
      readonly atMs: number;
    },
    how?: LearningMode,
  ): void;
  /** Rewards learned, over all arms. */
  readonly total: number;
  /** Rewards that came, learned or not. */
  readonly rewards: number;
  summaries(): ArmSummary[];
  arms(): SnapshotArm[];
  readonly state: readonly ArmState[];
}

export function createLearnedArms(saved: readonly ArmState[] = []): LearnedArms {
  const arms = new Map<string, ArmRecord>(saved.map((state) => [state.model, restore(state)]));
  let total = 0;
  let rewards = 0;
  for (const arm of arms.values()) {
    total += arm.learned;
    rewards += arm.rewards;
  }
  /** Tenants that taught anything; with one alone there is nobody to protect. */
  const teachers = new Set<string>([...arms.values()].flatMap(({ influence }) => [...influence.keys()]));

  function armOf(model: string): ArmRecord {
    const found = arms.get(model);
    if (found !== undefined) return found;
    const fresh: ArmRecord = {
      ridge: RidgeArm.withPrior(priorTheta(0), PRIOR_STRENGTH),
      influence: new Map(),
      learned: 0,
      capped: 0,
      rewards: 0,
      rewardSum: 0,
      residualSum: 0,
      drift: new PageHinkley(DRIFT_OPTIONS),
      alarms: 0,
      alarmedAtMs: undefined,
      alarmedAt: 0,
      window: new Adwin(),
      cuts: 0,
      cutAtMs: undefined,
      cutAt: 0,
      newest: NO_MOMENTS,
      withheld: 0,
    };
    arms.set(model, fresh);
    return fresh;
  }

  return {
    see: (models) => {
      for (const { id, tier } of models) {
        if (!arms.has(id)) arms.set(id, { ...armOf(id), ridge: RidgeArm.withPrior(priorTheta(tier), PRIOR_STRENGTH) });
      }
    },
    has: (model) => arms.has(model),
    learn: ({ model, tenant, features, reward, predicted, atMs }, { keep, frozen } = PLAINLY) => {
      const arm = armOf(model);
      rewards += 1;
      arm.rewards += 1;
      arm.rewardSum += reward;
      if (predicted !== undefined) {
        arm.residualSum += reward - predicted;
        arm.newest = addMoment(arm.newest, reward - predicted, NEWEST);
        // A constant keeps the stream in the detector's range; it looks at falls of the mean.
        if (arm.drift.add(reward - predicted)) {
          arm.alarms += 1;
          arm.alarmedAtMs = atMs;
          arm.alarmedAt = arm.rewards;
          // The next alarm is of a fall after this one.
          arm.drift = new PageHinkley(DRIFT_OPTIONS);
        }
        if (arm.window.add(reward - predicted)) {
          arm.cuts += 1;
          arm.cutAtMs = atMs;
          arm.cutAt = arm.rewards;
        }
      }
      teachers.add(tenant);
      const own = arm.influence.get(tenant) ?? { given: 0, learned: 0 };
      arm.influence.set(tenant, own);
      own.given += 1;
      if (teachers.size > 1 && own.learned >= Math.max(FREE_INFLUENCE, arm.rewards - own.given)) {
        arm.capped += 1;
        return;
      }
      if (frozen) {
        arm.withheld += 1;
        return;
      }
      if (keep < 1) arm.ridge.forget(keep, PRIOR_STRENGTH);
      // Scores that follow the text features are no part of what the arms learn from.
      arm.ridge.update(standardise(features.slice(0, DEFAULT_FEATURES.names.length), DEFAULT_FEATURES), reward);
      own.learned += 1;
      arm.learned += 1;
      total += 1;
    },
    get total() {
      return total;
    },
    get rewards() {
      return rewards;
    },
    summaries: () =>
      [...arms].map(([model, arm]) => ({
        model,
        learned: arm.learned,
        capped: arm.capped,
        rewards: arm.rewards,
        meanReward: arm.rewards === 0 ? undefined : arm.rewardSum / arm.rewards,
        calibration: arm.rewards === 0 ? 0 : arm.residualSum / arm.rewards,
        withheld: arm.withheld,
        driftStatistic: arm.drift.statistic,
        alarms: arm.alarms,
        alarmedAtMs: arm.alarmedAtMs,
        alarmedAt: arm.alarmedAt,
        newest: { n: arm.newest.n, mean: arm.newest.mean, error: momentError(arm.newest, NEWEST) },
        recent: { ...arm.window.window, cuts: arm.cuts, cutAtMs: arm.cutAtMs, cutAt: arm.cutAt },
      })),
    arms: () =>
      [...arms].map(([model, { ridge, learned }]) => ({
        model,
        theta: [...ridge.theta],
        inverse: ridge.aInverse.map((row) => [...row]),
        n: learned,
      })),
    get state() {
      return [...arms].map(([model, arm]): ArmState => ({
        model,
        ridge: arm.ridge.state,
        influence: [...arm.influence].map(([tenant, { given, learned }]) => [tenant, given, learned] as const),
        capped: arm.capped,
        rewards: arm.rewards,
        rewardSum: arm.rewardSum,
        residualSum: arm.residualSum,
        drift: arm.drift.state,
        ...(arm.alarmedAtMs === undefined
          ? {}
          : { alarms: arm.alarms, alarmedAtMs: arm.alarmedAtMs, alarmedAt: arm.alarmedAt }),
        window: arm.window.state,
        cuts: arm.cuts,
        ...(arm.cutAtMs === undefined ? {} : { cutAtMs: arm.cutAtMs, cutAt: arm.cutAt }),
        newest: arm.newest,
        withheld: arm.withheld,
      }));
    },
  };
}

function restore({
  ridge,
  influence,
  capped,
  rewards,
  rewardSum,
  residualSum,
  drift,
  alarms = 0,
  alarmedAtMs,
  alarmedAt = 0,
  window,
  cuts = 0,
  cutAtMs,
  cutAt = 0,
  newest = NO_MOMENTS,
  withheld = 0,
}: ArmState): ArmRecord {
  let learned = 0;
  for (const [, , n] of influence) learned += n;
  return {
    ridge: RidgeArm.restore(ridge),
    influence: new Map(influence.map(([tenant, given, n]) => [tenant, { given, learned: n }])),
    learned,
    capped,
    rewards,
    rewardSum,
    residualSum,
    drift: PageHinkley.restore(DRIFT_OPTIONS, drift),
    alarms,
    alarmedAtMs,
    alarmedAt,
    window: window === undefined ? new Adwin() : Adwin.restore(window),
    cuts,
    cutAtMs,
    cutAt,
    newest,
    withheld,
  };
}
