/** Where a candidate policy stands. */
export type RolloutStage = 'shadow' | 'canary_1' | 'canary_5' | 'canary_25' | 'full' | 'rolled_back';

/** Share of decisions that the candidate makes. */
export const STAGE_WEIGHT: Readonly<Record<RolloutStage, number>> = {
  shadow: 0,
  canary_1: 0.01,
  canary_5: 0.05,
  canary_25: 0.25,
  full: 1,
  rolled_back: 0,
};
/** Clean samples that promote. */
export const PROMOTE_AFTER = 2_000;
/** Within so many samples a breach is to be found. */
export const BREACH_HORIZON = 200;

const NEXT: Readonly<Record<RolloutStage, RolloutStage>> = {
  shadow: 'canary_1',
  canary_1: 'canary_5',
  canary_5: 'canary_25',
  canary_25: 'full',
  full: 'full',
  rolled_back: 'rolled_back',
};

/** What the monitor says after a sample of the stage. */
export interface StageVerdict {
  /** Samples in this stage. */
  readonly samples: number;
  readonly breach: boolean;
  /** Enough evidence that the candidate is no worse. */
  readonly promotable: boolean;
}

/**
 * The stage after a sample. A breach rolls back from anywhere and wins ties; promotion needs 2,000 samples; rolled
 * back is final.
 */
export function stageAfter(stage: RolloutStage, { samples, breach, promotable }: StageVerdict): RolloutStage {
  if (stage === 'rolled_back') return stage;
  if (breach) return 'rolled_back';
  return promotable && samples >= PROMOTE_AFTER ? NEXT[stage] : stage;
}

/** Where a reset leads: only a person takes a policy out of `rolled_back`, and that begins a new rollout. */
export function stageAfterReset(stage: RolloutStage, actor: 'human' | 'system'): RolloutStage {
  return stage === 'rolled_back' && actor === 'human' ? 'shadow' : stage;
}

/** Requests of all traffic until a stage has so many samples; `Infinity` in a stage without traffic. */
export function requestsNeeded(stage: RolloutStage, samples: number): number {
  const weight = STAGE_WEIGHT[stage];
  return weight === 0 ? Infinity : Math.ceil(samples / weight);
}
