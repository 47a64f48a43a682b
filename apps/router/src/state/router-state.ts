import type { SnapshotPolicy } from '@sluice/contracts';
import {
  compilePolicy,
  loggedSignals,
  NO_REACTION,
  powerGamma,
  PRIOR_STRENGTH,
  priorTheta,
  reactionEffects,
  STAGE_WEIGHT,
  stepOf,
  targetProbabilities,
  type CompiledPolicy,
  type ReactionChange,
  type ReactionState,
} from '@sluice/routing';
import type { Cause, JournalEntry, StoredPolicy } from './journal.ts';
import { createLearnedArms, type ArmState, type LearnedArms } from './learned-arms.ts';
import { createRolloutRecord, newRollout, type RolloutRecord, type RolloutState } from './rollout-record.ts';

/** Steps of the ladder of reactions that are kept. */
const KEPT_STEPS = 50;
/** The most that the schema of a policy allows. */
const HIGHEST_FLOOR = 0.5;
const HIGHEST_REJECTED_FLOOR = 0.01;

/** A step of the ladder that was taken, under the number of its journal entry. */
export interface ReactionRecord extends ReactionChange {
  readonly seq: number;
  readonly atMs: number;
  readonly actor: string;
}

/** The whole state as JSON, at one place in the journal. */
export interface RouterStateSaved {
  readonly seq: number;
  readonly arms: readonly ArmState[];
  readonly policies: readonly (StoredPolicy & { readonly createdAtMs: number })[];
  readonly serving: string;
  readonly rollouts: readonly RolloutState[];
  /** Absent in what was saved before there were reactions. */
  readonly reaction?: ReactionState;
  readonly reactions?: readonly ReactionRecord[];
}

export interface PolicyRecord extends StoredPolicy {
  readonly createdAtMs: number;
}

/**
 * What the router has learned and decided: a fold over its journal, the same to the last bit however often it is
 * made.
 */
export interface RouterState {
  /** @throws RangeError when the entry does not follow. */
  apply(entry: JournalEntry): void;
  readonly seq: number;
  readonly arms: LearnedArms;
  readonly policies: ReadonlyMap<string, PolicyRecord>;
  /** Version of the policy that serves. */
  readonly serving: string;
  readonly rollouts: ReadonlyMap<string, RolloutRecord>;
  /** The one that is running, if any. */
  readonly running: RolloutRecord | undefined;
  /** Where the ladder of reactions to drift stands, and its newest steps, the oldest first. */
  readonly reaction: ReactionState;
  readonly reactions: readonly ReactionRecord[];
  /**
   * What a rollback for drift would end: the running rollout, or the one whose policy serves; undefined when there
   * is nothing to go back to.
   */
  readonly revocable: RolloutRecord | undefined;
  /** A policy as it would be published now, without what calls came to on average. */
  publish(version: string): SnapshotPolicy;
  readonly saved: RouterStateSaved;
}

export function createRouterState(saved?: RouterStateSaved): RouterState {
  let seq = saved?.seq ?? 0;
  let serving = saved?.serving ?? '';
  const arms = createLearnedArms(saved?.arms);
  const policies = new Map<string, PolicyRecord>(saved?.policies.map((policy) => [policy.version, policy]));
  const rollouts = new Map<string, RolloutRecord>(
    saved?.rollouts.map((rollout) => [rollout.id, createRolloutRecord(rollout)]),
  );

  let reaction = saved?.reaction ?? NO_REACTION;
  let reactions = saved?.reactions ?? [];

  function publish(version: string): SnapshotPolicy {
    const policy = policies.get(version) as PolicyRecord;
    const { gamma, floor } = reactionEffects(stepOf(reaction));
    const { settings } = policy;
    return {
      version,
      settings:
        floor === 1
          ? settings
          : {
              ...settings,
              floor: Math.min(HIGHEST_FLOOR, floor * settings.floor),
              rejected_floor: Math.min(HIGHEST_REJECTED_FLOOR, floor * settings.rejected_floor),
            },
      features: policy.features,
      gamma: gamma * powerGamma(arms.total, settings.gamma_scale),
      arms: policy.arms === undefined ? arms.arms() : [...policy.arms],
      unseen: { theta: priorTheta(0, policy.features), strength: PRIOR_STRENGTH },
    };
  }

  function shadowOf(version: string, tenant: string, decision: Parameters<RolloutRecord['reward']>[0]) {
    const logging = decision.policy_version === undefined ? undefined : policies.get(decision.policy_version)?.settings;
    const target = targetProbabilities(
      compilePolicy(publish(version)),
      decision,
      tenant,
      loggedSignals(decision, logging),
    );
    let unsupported = 0;
    let weight = 0;
    decision.arms.forEach(({ model, probability }, i) => {
      const wanted = target[i] as number;
      if (probability === 0) unsupported += wanted;
      if (model === decision.chosen) weight = wanted / probability;
    });
    return { weight, unsupported };
  }

  function reward(body: Extract<JournalEntry['body'], { kind: 'reward' }>, atMs: number): void {
    const { decision, tenant } = body;
    for (const rollout of rollouts.values()) {
      rollout.reward(decision, body.reward, atMs, () => shadowOf(rollout.policyVersion, tenant, decision));
      if (rollout.life === 'promoted' && rollout.policyVersion !== serving && rollout.state.controlVersion === serving)
        serving = rollout.policyVersion;
    }
    const predicted = decision.arms.find(({ model }) => model === decision.chosen)?.mean;
    arms.learn(
      { model: decision.chosen, tenant, features: decision.features, reward: body.reward, predicted, atMs },
      learningOf(decision.chosen),
    );
  }

  /** Only what was found wrong is forgotten; a freeze is for all. */
  function learningOf(model: string): { readonly keep: number; readonly frozen: boolean } {
    const { keep, frozen } = reactionEffects(stepOf(reaction));
    if (reaction.mode === 'watching') return { frozen, keep };
    // A person who lets it forget without any suspect means all.
    const forgets = reaction.suspects.includes(model) || (reaction.mode === 'held' && reaction.suspects.length === 0);
    return { frozen, keep: forgets ? keep : 1 };
  }

  /** A policy that serves because of this rollout gives way to the one before it. */
  function breach(rollout: RolloutRecord, cause: Cause, atMs: number): void {
    if (rollout.life === 'promoted' && rollout.policyVersion === serving) serving = rollout.state.controlVersion;
    rollout.end('rolled_back', cause, atMs);
  }

  function findRunning(): RolloutRecord | undefined {
    for (const rollout of rollouts.values()) if (rollout.life === 'running') return rollout;
    return undefined;
  }

  return {
    apply: ({ seq: next, atMs, body }) => {
      if (next !== seq + 1) throw new RangeError(`journal entry ${next} does not follow ${seq}`);
      switch (body.kind) {
        case 'reward':
          reward(body, atMs);
          break;
        case 'models_seen':
          arms.see(body.models);
          break;
        case 'policy_created':
          policies.set(body.policy.version, { ...body.policy, createdAtMs: atMs });
          if (serving === '') serving = body.policy.version;
          break;
        case 'rollout_created':
          rollouts.set(body.id, createRolloutRecord(newRollout({ ...body, controlVersion: serving, atMs })));
          break;
        case 'rollout_started':
          rollouts.get(body.id)?.start({ actor: body.actor, reason: body.reason }, atMs);
          break;
        case 'rollout_aborted':
          rollouts.get(body.id)?.end('aborted', { actor: body.actor, reason: body.reason }, atMs);
          break;
        case 'rollout_breached':
          breach(rollouts.get(body.id) as RolloutRecord, { actor: body.actor, reason: body.reason }, atMs);
          break;
        case 'drift_reaction':
          reaction = body.reaction;
          if (body.change !== undefined)
            reactions = [...reactions, { ...body.change, seq: next, atMs, actor: body.actor }].slice(-KEPT_STEPS);
          break;
        case 'rollout_reset': {
          const old = rollouts.get(body.id) as RolloutRecord;
          old.note({
            atMs,
            from: old.stage,
            to: `reset as ${body.newId}`,
            actor: body.actor,
            reason: body.reason,
            samples: 0,
          });
          rollouts.set(
            body.newId,
            createRolloutRecord(
              newRollout({
                id: body.newId,
                policyVersion: old.policyVersion,
                controlVersion: serving,
                margin: old.state.margin,
                atMs,
                actor: body.actor,
                reason: body.reason,
              }),
            ),
          );
        }
      }
      seq = next;
    },
    get seq() {
      return seq;
    },
    arms,
    policies,
    get serving() {
      return serving;
    },
    rollouts,
    get running() {
      return findRunning();
    },
    get reaction() {
      return reaction;
    },
    get reactions() {
      return reactions;
    },
    get revocable() {
      return (
        findRunning() ??
        [...rollouts.values()].findLast(({ life, policyVersion }) => life === 'promoted' && policyVersion === serving)
      );
    },
    publish,
    get saved() {
      return {
        seq,
        arms: arms.state,
        policies: [...policies.values()],
        serving,
        rollouts: [...rollouts.values()].map((rollout) => rollout.state),
        reaction,
        reactions,
      };
    },
  };
}

/** A policy compiled as it would be published. */
export const compiled = (state: RouterState, version: string): CompiledPolicy => compilePolicy(state.publish(version));

/** Share of decisions that a rollout's candidate makes. */
export const weightOf = ({ life, stage }: Pick<RolloutRecord, 'life' | 'stage'>): number =>
  life === 'running' ? STAGE_WEIGHT[stage] : 0;
