/**
 * Reactions to drift in their order; each includes what the ones before it do, unless it says otherwise
 * (`reactionEffects`).
 */
export const REACTIONS = ['alert', 'explore', 'forget_slowly', 'forget', 'freeze', 'rollback'] as const;
export type Reaction = (typeof REACTIONS)[number];
export const REACTION_STEPS = ['watching', ...REACTIONS] as const;
export type ReactionStep = (typeof REACTION_STEPS)[number];

export const DRIFT_SOURCES = ['reward_fall', 'reward_change', 'calibration', 'features', 'arm_mix', 'weights'] as const;
export type DriftSource = (typeof DRIFT_SOURCES)[number];

/** What one detector says now. It may say the same for as long as it likes: only `seen` makes it new. */
export interface DriftVerdict {
  readonly source: DriftSource;
  /** What it looks at; verdicts of one stream are one piece of evidence. */
  readonly stream: string;
  /** For people: the model, or the features. */
  readonly subject: string;
  /** Observations of the stream up to which it speaks; never falls. */
  readonly seen: number;
  readonly value: number;
  /** What the value is beyond. */
  readonly limit: number;
}

/** Observations of each stream up to which its verdicts have been counted. */
type Counted = Readonly<Record<string, number>>;

/** Where the ladder stands; JSON-safe. */
export type ReactionState =
  | { readonly mode: 'watching'; readonly counted: Counted }
  | {
      readonly mode: 'reacting';
      readonly step: Reaction;
      readonly sinceMs: number;
      /** Of the last detection that speaks for this step, or of the step down to it. */
      readonly quietSinceMs: number;
      /** Rewards of all time at that moment. */
      readonly quietFrom: number;
      /** Detections since this step that speak for the next one. */
      readonly detections: number;
      /** Models whose own rewards were evidence. */
      readonly suspects: readonly string[];
      readonly counted: Counted;
    }
  /** A person holds it at a step: nothing moves it but the release. */
  | {
      readonly mode: 'held';
      readonly step: ReactionStep;
      readonly sinceMs: number;
      readonly actor: string;
      readonly reason: string;
      readonly suspects: readonly string[];
      readonly counted: Counted;
    };

/** A step that was taken. */
export interface ReactionChange {
  readonly kind: 'up' | 'down' | 'limited' | 'held' | 'released';
  readonly from: ReactionStep;
  readonly to: ReactionStep;
  /** With the numbers that it rests on. */
  readonly why: string;
  readonly evidence: readonly DriftVerdict[];
}

export interface LadderOptions {
  /** The highest step that may be taken; a ladder that stands above it comes down to it at once. */
  readonly highest: ReactionStep;
  /** Whether there is anything to roll back; without it the ladder ends at `freeze`. */
  readonly canRollBack: boolean;
  /** Between two steps up, milliseconds: a step is given time to help. */
  readonly dwellMs: number;
  /** Without a detection until a step down, milliseconds. */
  readonly quietMs: number;
  /** Rewards that must have come in that time: silence alone is no sign of health. */
  readonly quietRewards: number;
}

export const LADDER_OPTIONS: Pick<LadderOptions, 'dwellMs' | 'quietMs' | 'quietRewards'> = {
  dwellMs: 60_000,
  quietMs: 10 * 60_000,
  quietRewards: 500,
};

/**
 * Detections, counted from the step before, that a step takes. The first ones cost little; the last ones need
 * evidence again and again.
 */
export const DETECTIONS_NEEDED: Readonly<Record<Reaction, number>> = {
  alert: 1,
  explore: 1,
  forget_slowly: 1,
  forget: 2,
  freeze: 5,
  rollback: 5,
};

/**
 * The highest step that a source alone can bring about. Other requests are no proof that predictions are wrong, the
 * mix of models moves with all that is learned, and no step mends wrong propensities: these end early.
 */
export const SOURCE_CEILING: Readonly<Record<DriftSource, Reaction>> = {
  reward_fall: 'rollback',
  reward_change: 'rollback',
  calibration: 'rollback',
  features: 'explore',
  arm_mix: 'alert',
  weights: 'alert',
};

/** New observations of a stream before it is evidence again. */
export const FRESH_AFTER: Readonly<Record<DriftSource, number>> = {
  reward_fall: 100,
  reward_change: 100,
  calibration: 100,
  features: 1_000,
  arm_mix: 1_000,
  weights: 1_000,
};

export const NO_REACTION: ReactionState = { mode: 'watching', counted: {} };

export const stepOf = (state: ReactionState): ReactionStep => (state.mode === 'watching' ? 'watching' : state.step);
export const heightOf = (step: ReactionStep): number => REACTION_STEPS.indexOf(step);

export interface Observation {
  readonly verdicts: readonly DriftVerdict[];
  /** Rewards of all time. */
  readonly rewards: number;
  readonly nowMs: number;
}

/**
 * Takes what the detectors say now: at most one step up for new evidence, at most one down after quiet. A ladder that a
 * person holds only counts. Called as often as one likes; without new evidence or time it returns the same state.
 *
 * @returns the state, the same object when nothing changed, and the step if one was taken.
 */
export function observeDrift(
  state: ReactionState,
  { verdicts, rewards, nowMs }: Observation,
  options: LadderOptions,
): { readonly state: ReactionState; readonly change?: ReactionChange } {
  const from = stepOf(state);
  if (state.mode !== 'held' && heightOf(from) > heightOf(options.highest)) {
    return enter(state, options.highest, {
      nowMs,
      rewards,
      change: {
        kind: 'limited',
        from,
        to: options.highest,
        why: `no step beyond '${options.highest}' is allowed here`,
        evidence: [],
      },
    });
  }
  const fresh = freshOf(verdicts, state.counted);
  const counted =
    fresh.length === 0
      ? state.counted
      : { ...state.counted, ...Object.fromEntries(fresh.map(({ stream, seen }) => [stream, seen])) };
  if (state.mode === 'held') return { state: fresh.length === 0 ? state : { ...state, counted } };
  if (options.highest === 'watching') return { state };
  const further = fresh.filter(({ source }) => heightOf(SOURCE_CEILING[source]) > heightOf(from));
  const next = REACTION_STEPS[heightOf(from) + 1] as Reaction | undefined;
  const detections = (state.mode === 'watching' ? 0 : state.detections) + further.length;
  const mayRise =
    next !== undefined &&
    heightOf(next) <= heightOf(options.highest) &&
    (next !== 'rollback' || options.canRollBack) &&
    (state.mode === 'watching' || nowMs - state.sinceMs >= options.dwellMs);
  if (mayRise && further.length > 0 && detections >= DETECTIONS_NEEDED[next]) {
    return enter({ ...state, counted }, next, {
      nowMs,
      rewards,
      suspects: suspectsOf(further),
      change: {
        kind: 'up',
        from,
        to: next,
        why: `${further.map(sentenceOf).join('; ')}; detection ${detections} of ${DETECTIONS_NEEDED[next]}`,
        evidence: further,
      },
    });
  }
  if (state.mode === 'watching') return { state: fresh.length === 0 ? state : { ...state, counted } };
  const sustaining = fresh.filter(({ source }) => heightOf(SOURCE_CEILING[source]) >= heightOf(from));
  if (sustaining.length > 0)
    return {
      state: {
        ...state,
        counted,
        detections,
        quietSinceMs: nowMs,
        quietFrom: rewards,
        suspects: united(state.suspects, suspectsOf(sustaining)),
      },
    };
  if (nowMs - state.quietSinceMs >= options.quietMs && rewards - state.quietFrom >= options.quietRewards) {
    const to = REACTION_STEPS[heightOf(from) - 1] as ReactionStep;
    return enter({ ...state, counted }, to, {
      nowMs,
      rewards,
      change: {
        kind: 'down',
        from,
        to,
        why: `no detection for ${Math.round((nowMs - state.quietSinceMs) / 1000)} s and ${rewards - state.quietFrom} rewards`,
        evidence: [],
      },
    });
  }
  return { state: fresh.length === 0 ? state : { ...state, counted } };
}

/** Puts the ladder at a step by hand and keeps it there. A rollback is done by ending a rollout, and not held. */
export function holdReaction(
  state: ReactionState,
  {
    step,
    actor,
    reason,
    nowMs,
  }: {
    readonly step: Exclude<ReactionStep, 'rollback'>;
    readonly actor: string;
    readonly reason: string;
    readonly nowMs: number;
  },
): { readonly state: ReactionState; readonly change: ReactionChange } {
  const suspects = state.mode === 'watching' ? [] : state.suspects;
  return {
    state: { mode: 'held', step, sinceMs: nowMs, actor, reason, suspects, counted: state.counted },
    change: { kind: 'held', from: stepOf(state), to: step, why: reason, evidence: [] },
  };
}

/** Gives a held ladder back to the detectors, at the step where it is. @returns undefined when nobody holds it. */
export function releaseReaction(
  state: ReactionState,
  { reason, rewards, nowMs }: { readonly reason: string; readonly rewards: number; readonly nowMs: number },
): { readonly state: ReactionState; readonly change?: ReactionChange } | undefined {
  if (state.mode !== 'held') return undefined;
  return enter(state, state.step, {
    nowMs,
    rewards,
    change: { kind: 'released', from: state.step, to: state.step, why: reason, evidence: [] },
  });
}

export interface ReactionEffects {
  /** Factors of the policy's gamma and of its floors. */
  readonly gamma: number;
  readonly floor: number;
  /** What an observation of a suspected model leaves of the earlier ones; 1 forgets nothing. */
  readonly keep: number;
  /** Nothing is learned; decisions go on. */
  readonly frozen: boolean;
}

const PLAIN: ReactionEffects = { gamma: 1, floor: 1, keep: 1, frozen: false };

/**
 * What a step does. From `freeze` on there is no more exploration than usual: what is not learned from is not worth
 * its price.
 */
export function reactionEffects(step: ReactionStep): ReactionEffects {
  switch (step) {
    case 'watching':
    case 'alert':
      return PLAIN;
    case 'explore':
      return { ...PLAIN, gamma: 0.7, floor: 1.5 };
    case 'forget_slowly':
      return { ...PLAIN, gamma: 0.7, floor: 1.5, keep: 0.999 };
    case 'forget':
      return { ...PLAIN, gamma: 0.7, floor: 1.5, keep: 0.99 };
    case 'freeze':
    case 'rollback':
      return { ...PLAIN, frozen: true };
  }
}

/** The strongest new verdict of each stream. */
function freshOf(verdicts: readonly DriftVerdict[], counted: Counted): DriftVerdict[] {
  const found = new Map<string, DriftVerdict>();
  for (const verdict of verdicts) {
    const before = counted[verdict.stream];
    if (before !== undefined && verdict.seen - before < FRESH_AFTER[verdict.source]) continue;
    const other = found.get(verdict.stream);
    if (other === undefined || verdict.seen > other.seen) found.set(verdict.stream, verdict);
  }
  return [...found.values()];
}

function enter(
  state: ReactionState,
  to: ReactionStep,
  {
    nowMs,
    rewards,
    suspects = [],
    change,
  }: { nowMs: number; rewards: number; suspects?: readonly string[]; change: ReactionChange },
): { readonly state: ReactionState; readonly change: ReactionChange } {
  const { counted } = state;
  if (to === 'watching') return { state: { mode: 'watching', counted }, change };
  const before = state.mode === 'watching' ? [] : state.suspects;
  return {
    state: {
      mode: 'reacting',
      step: to,
      sinceMs: nowMs,
      quietSinceMs: nowMs,
      quietFrom: rewards,
      detections: 0,
      suspects: united(before, suspects),
      counted,
    },
    change,
  };
}

const ABOUT_MODELS: readonly DriftSource[] = ['reward_fall', 'reward_change', 'calibration'];
const suspectsOf = (verdicts: readonly DriftVerdict[]): string[] =>
  verdicts.filter(({ source }) => ABOUT_MODELS.includes(source)).map(({ subject }) => subject);
const united = (a: readonly string[], b: readonly string[]): readonly string[] => [...new Set([...a, ...b])];
const sentenceOf = ({ source, subject, value, limit, seen }: DriftVerdict): string =>
  `${source} of ${subject}: ${value.toPrecision(3)} beyond ${limit} after ${seen}`;
