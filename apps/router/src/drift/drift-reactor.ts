import {
  EVENT_SCHEMA,
  type AuditEvent,
  type Clock,
  type DriftAnswer,
  type EventPublisher,
  type OutgoingEvent,
} from '@sluice/contracts';
import {
  heightOf,
  holdReaction,
  LADDER_OPTIONS,
  observeDrift,
  reactionEffects,
  releaseReaction,
  REACTION_STEPS,
  stepOf,
  type DriftVerdict,
  type LadderOptions,
  type ReactionStep,
} from '@sluice/routing';
import type { ProblemReply } from '../http/reply.ts';
import type { RouterKeeper } from '../learn/router-keeper.ts';
import type { JournalBody } from '../state/journal.ts';
import type { ReactionRecord, RouterState } from '../state/router-state.ts';
import { rewardVerdicts, windowVerdicts } from './drift-verdicts.ts';
import type { FeatureDrift } from './feature-drift.ts';

/** After a refused publication, milliseconds. */
const RETRY_MS = 30_000;
/** Decisions between two looks at the windows; a look sorts all of them. */
const LOOK_EVERY = 250;

/** What a person orders: `hold` keeps the ladder at a step, without it the ladder is released. */
export interface ReactionOrder {
  readonly hold?: Exclude<ReactionStep, 'rollback'> | undefined;
  readonly actor: string;
  readonly reason: string;
}

/** Lets the ladder of reactions act: reads the detectors, records each step in the journal, logs and publishes it. */
export interface DriftReactor {
  /**
   * One look; it does not wait for the spine. Called each second.
   * @throws what the store says when it is away; nothing has changed then.
   */
  tick(): Promise<void>;
  /** @returns why not, if so. */
  order(order: ReactionOrder): Promise<ProblemReply | undefined>;
  /** Resolves when no publication is on its way. */
  flushed(): Promise<void>;
  view(): NonNullable<DriftAnswer['reactions']>;
  /** Undefined before the state was loaded. */
  readonly step: ReactionStep | undefined;
  /** Number of the newest step that was published; goes on where another stood. */
  published: number;
}

export interface DriftReactorDeps {
  readonly keeper: Pick<RouterKeeper, 'state' | 'record'>;
  readonly drift: Pick<FeatureDrift, 'report' | 'seen' | 'rebase'>;
  /** Names of the features that are watched; undefined before there is a snapshot. */
  readonly names: () => readonly string[] | undefined;
  /** The highest step that may be taken by itself; `watching` for none. */
  readonly highest: ReactionStep;
  readonly publisher: Pick<EventPublisher, 'publish'> | undefined;
  readonly clock: Clock;
  readonly logger: { warn(fields: object, message: string): void };
  readonly onStep?: (record: ReactionRecord) => void;
  readonly timing?: Pick<LadderOptions, 'dwellMs' | 'quietMs' | 'quietRewards'>;
}

export function createDriftReactor(deps: DriftReactorDeps): DriftReactor {
  const { keeper, drift, highest, clock, timing = LADDER_OPTIONS } = deps;
  let looked = 0;
  let windows: readonly DriftVerdict[] = [];
  let published = 0;
  let publishing: Promise<void> | undefined;
  let publishAfterMs = -Infinity;
  let base: Readonly<Record<string, number>> | undefined;

  function lookAtWindows(state: RouterState): void {
    const names = deps.names();
    // The windows begin with the process, what was counted does not.
    base ??= state.reaction.counted;
    if (names === undefined || drift.seen - looked < LOOK_EVERY) return;
    looked = drift.seen;
    const before = base;
    windows = windowVerdicts(drift.report(names), (stream) => (before[stream] ?? 0) + drift.seen);
  }

  const observed = (state: RouterState) =>
    observeDrift(
      state.reaction,
      {
        verdicts: [...rewardVerdicts(state.arms.summaries()), ...windows],
        rewards: state.arms.rewards,
        nowMs: clock.now(),
      },
      { ...timing, highest, canRollBack: state.revocable !== undefined },
    );

  function bodiesOf(state: RouterState): JournalBody[] {
    const { state: reaction, change } = observed(state);
    if (reaction === state.reaction) return [];
    const step: JournalBody = { kind: 'drift_reaction', reaction, change, actor: 'system' };
    const ended = change?.kind === 'up' && change.to === 'rollback' ? state.revocable : undefined;
    return ended === undefined
      ? [step]
      : [
          step,
          {
            kind: 'rollout_breached',
            id: ended.id,
            actor: 'system',
            reason: `rewards went on drifting while the policy was frozen: ${change?.why ?? ''}`.slice(0, 500),
          },
        ];
  }

  async function record(bodiesFor: (state: RouterState) => JournalBody[]): Promise<void> {
    const before = keeper.state?.reactions.at(-1)?.seq ?? 0;
    const counted = keeper.state?.reaction.counted;
    await keeper.record((state) => ({ bodies: bodiesFor(state) }));
    const steps = (keeper.state?.reactions ?? []).filter(({ seq }) => seq > before);
    // What counted once, or was reacted to, is what later windows are held against.
    if (steps.some(({ kind }) => kind === 'up') || windowsCounted(counted, keeper.state?.reaction.counted))
      drift.rebase();
    windows = [];
    steps.forEach(tell);
  }

  function tell(taken: ReactionRecord): void {
    deps.onStep?.(taken);
    deps.logger.warn(
      {
        from: taken.from,
        to: taken.to,
        kind: taken.kind,
        actor: taken.actor,
        why: taken.why,
        evidence: taken.evidence,
        effects: reactionEffects(taken.to),
        seq: taken.seq,
      },
      'the router reacts to drift',
    );
  }

  /** At least once: what SNS did not take is sent again. */
  async function publish(state: RouterState): Promise<void> {
    const waiting = state.reactions.filter(({ seq }) => seq > published);
    if (deps.publisher === undefined || waiting.length === 0 || clock.now() < publishAfterMs) return;
    const refused = new Set(await deps.publisher.publish(waiting.map(eventOf)));
    publishAfterMs = refused.size === 0 ? -Infinity : clock.now() + RETRY_MS;
    const taken = waiting.findIndex((one) => refused.has(idOf(one)));
    const last = waiting[(taken < 0 ? waiting.length : taken) - 1];
    if (last !== undefined) published = last.seq;
  }

  return {
    tick: async () => {
      const { state } = keeper;
      if (state === undefined) return;
      lookAtWindows(state);
      if (observed(state).state !== state.reaction) await record(bodiesOf);
      publishing ??= publish(state).finally(() => (publishing = undefined));
    },
    order: async ({ hold, actor, reason }) => {
      const nowMs = clock.now();
      let refusal: ProblemReply | undefined;
      await record((state) => {
        const done =
          hold === undefined
            ? releaseReaction(state.reaction, { reason, rewards: state.arms.rewards, nowMs })
            : holdReaction(state.reaction, { step: hold, actor, reason, nowMs });
        if (done === undefined)
          refusal = { status: 409, title: 'Nobody holds the reactions; they follow the detectors' };
        return done === undefined ? [] : [{ kind: 'drift_reaction', reaction: done.state, change: done.change, actor }];
      });
      return refusal;
    },
    flushed: async () => publishing,
    view: () => viewOf(keeper.state as RouterState, highest, timing),
    get step() {
      return keeper.state === undefined ? undefined : stepOf(keeper.state.reaction);
    },
    get published() {
      return published;
    },
    set published(seq) {
      published = seq;
    },
  };
}

/** Whether a verdict of the windows of decisions was counted between the two. */
export function windowsCounted(
  before: Readonly<Record<string, number>> | undefined,
  after: Readonly<Record<string, number>> | undefined,
): boolean {
  return (['features', 'arm_mix'] as const).some((stream) => before?.[stream] !== after?.[stream]);
}

const iso = (ms: number): string => new Date(ms).toISOString();
const idOf = ({ seq, atMs }: ReactionRecord): string => `router.drift.${seq}.${atMs}`;

function eventOf(taken: ReactionRecord): OutgoingEvent {
  const event: AuditEvent = {
    schema: EVENT_SCHEMA,
    event_id: idOf(taken),
    occurred_at: iso(taken.atMs),
    type:
      taken.kind === 'held' || taken.kind === 'released' ? `drift_reaction.${taken.kind}` : 'drift_reaction.changed',
    actor: taken.actor === 'system' ? { kind: 'service', id: 'router' } : { kind: 'operator', id: taken.actor },
    target: { kind: 'router', id: 'drift' },
    before: { step: taken.from },
    after: { step: taken.to, kind: taken.kind, evidence: taken.evidence },
    reason: taken.why.slice(0, 500),
  };
  return { id: event.event_id, topic: 'audit-events', body: JSON.stringify(event), attributes: { type: event.type } };
}

function viewOf(
  state: RouterState,
  highest: ReactionStep,
  timing: Pick<LadderOptions, 'quietMs' | 'quietRewards'>,
): NonNullable<DriftAnswer['reactions']> {
  const { reaction } = state;
  const step = stepOf(reaction);
  const effects = reactionEffects(step);
  return {
    mode: reaction.mode,
    step,
    highest,
    steps: [...REACTION_STEPS],
    effects: { gamma_factor: effects.gamma, floor_factor: effects.floor, keep: effects.keep, frozen: effects.frozen },
    ...(reaction.mode === 'watching' ? {} : { since: iso(reaction.sinceMs), suspects: [...reaction.suspects] }),
    ...(reaction.mode === 'held' ? { held_by: reaction.actor, held_for: reaction.reason } : {}),
    ...(reaction.mode === 'reacting'
      ? {
          ends: {
            to: REACTION_STEPS[heightOf(step) - 1] as ReactionStep,
            not_before: iso(reaction.quietSinceMs + timing.quietMs),
            rewards_left: Math.max(0, timing.quietRewards - (state.arms.rewards - reaction.quietFrom)),
          },
        }
      : {}),
    withheld: state.arms.summaries().reduce((sum, { withheld }) => sum + withheld, 0),
    history: state.reactions
      .toReversed()
      .map(({ atMs, from, to, kind, actor, why }) => ({ at: iso(atMs), from, to, kind, actor, why })),
  };
}
