import { createHash } from 'node:crypto';
import type {
  CreatePolicy,
  CreateRollout,
  FeatureSpec,
  PoliciesAnswer,
  PolicySettings,
  RolloutAction,
  RoutingPolicyView,
} from '@sluice/contracts';
import { compilePolicy, SnapshotError } from '@sluice/routing';
import type { Ids } from '@sluice/service-kit';
import { NOT_FOUND, type ProblemReply } from '../http/reply.ts';
import type { JournalBody } from '../state/journal.ts';
import type { RolloutRecord } from '../state/rollout-record.ts';
import type { PolicyRecord, RouterState } from '../state/router-state.ts';
import type { RouterKeeper } from './router-keeper.ts';

/**
 * What persons do with policies and rollouts. Each change is durable before it is answered; a refusal changes
 * nothing.
 */
export interface PolicyDesk {
  createPolicy(order: CreatePolicy): Promise<ProblemReply | undefined>;
  /** @returns the new rollout's id, or why there is none. */
  createRollout(order: CreateRollout): Promise<string | ProblemReply>;
  /** @returns the id of the rollout to look at, a new one after a reset. */
  act(id: string, action: 'start' | 'abort' | 'reset', order: RolloutAction): Promise<string | ProblemReply>;
}

export function createPolicyDesk({ keeper, ids }: { keeper: Pick<RouterKeeper, 'record'>; ids: Ids }): PolicyDesk {
  /** Judges and records in one turn, so that nothing changes in between. */
  async function inTurn<T extends string | undefined>(
    judge: (
      state: RouterState,
    ) => { readonly refuse: ProblemReply } | { readonly body: JournalBody; readonly value: T },
  ): Promise<T | ProblemReply> {
    let outcome: T | ProblemReply | undefined;
    await keeper.record((state) => {
      const judged = judge(state);
      outcome = 'refuse' in judged ? judged.refuse : judged.value;
      return { bodies: 'refuse' in judged ? [] : [judged.body] };
    });
    return outcome as T | ProblemReply;
  }

  return {
    createPolicy: (order) =>
      inTurn((state) => {
        if (state.policies.has(order.version))
          return conflict(`There is a policy ${order.version} already; versions never change`);
        const serving = state.policies.get(state.serving) as PolicyRecord;
        const settings = settingsOf(serving.settings, order.settings);
        const features = featuresOf(serving.features, order);
        const policy = {
          version: order.version,
          note: order.note,
          createdBy: order.actor.id,
          settings,
          features,
          ...(order.arms === undefined ? {} : { arms: order.arms }),
        };
        const fault = faultOf(policy, state);
        return fault === undefined ? { body: { kind: 'policy_created', policy }, value: undefined } : { refuse: fault };
      }),
    createRollout: (order) =>
      inTurn((state) => {
        if (!state.policies.has(order.policy_version))
          return {
            refuse: {
              status: 422,
              title: 'There is no such policy',
              errors: [{ path: 'policy_version', message: `there is no policy '${order.policy_version}'` }],
            },
          };
        if (order.policy_version === state.serving) return conflict(`${order.policy_version} serves already`);
        const id = ids.ulid();
        return {
          body: {
            kind: 'rollout_created',
            id,
            policyVersion: order.policy_version,
            margin: order.margin,
            actor: order.actor.id,
            reason: order.reason,
          },
          value: id,
        };
      }),
    act: (id, action, { actor, reason }) =>
      inTurn((state) => {
        const rollout = state.rollouts.get(id);
        if (rollout === undefined) return { refuse: NOT_FOUND };
        const refusal = refusalOf(action, rollout, state);
        if (refusal !== undefined) return conflict(refusal);
        const cause = { id, actor: actor.id, reason };
        if (action === 'reset') {
          const newId = ids.ulid();
          return { body: { kind: 'rollout_reset', newId, ...cause }, value: newId };
        }
        return { body: { kind: action === 'start' ? 'rollout_started' : 'rollout_aborted', ...cause }, value: id };
      }),
  };
}

function settingsOf(
  serving: PolicySettings,
  { reference_cost: reference, ...given }: CreatePolicy['settings'],
): PolicySettings {
  const { reference_cost: before, ...others } = serving;
  const cost = reference === undefined ? before : reference;
  return { ...others, ...given, ...(cost === undefined || cost === null ? {} : { reference_cost: cost }) };
}

function featuresOf(
  { scorer: before, ...features }: FeatureSpec,
  { scorer, scorer_strength: strength }: CreatePolicy,
): FeatureSpec {
  if (scorer === null) return features;
  if (scorer === undefined) return before === undefined ? features : { ...features, scorer: before };
  return {
    ...features,
    scorer: { id: createHash('sha256').update(JSON.stringify(scorer)).digest('hex').slice(0, 16), strength, scorer },
  };
}

/** Two scorers in one snapshot are not published: a record has the scores of one. */
function scorersDiffer(state: RouterState, version: string): boolean {
  const [own, serving] = [version, state.serving].map((of) => state.policies.get(of)?.features.scorer?.id);
  return own !== undefined && serving !== undefined && own !== serving;
}

function refusalOf(
  action: 'start' | 'abort' | 'reset',
  { life, policyVersion }: RolloutRecord,
  state: RouterState,
): string | undefined {
  switch (action) {
    case 'start':
      if (life !== 'created') return `A rollout that is ${life} cannot be started; reset makes a new one`;
      if (state.running !== undefined) return `Rollout ${state.running.id} is running; one at a time`;
      return scorersDiffer(state, policyVersion)
        ? `${policyVersion} has another scorer than ${state.serving}, which serves: roll out one without a scorer between them`
        : undefined;
    case 'abort':
      return life === 'created' || life === 'running' ? undefined : `A rollout that is ${life} cannot be aborted`;
    case 'reset':
      return life === 'rolled_back' || life === 'aborted'
        ? undefined
        : `Only a rollout that was rolled back or aborted is reset; this one is ${life}`;
  }
}

function faultOf(policy: Omit<PolicyRecord, 'createdAtMs'>, state: RouterState): ProblemReply | undefined {
  try {
    compilePolicy({
      ...state.publish(state.serving),
      version: policy.version,
      settings: policy.settings,
      features: policy.features,
      ...(policy.arms === undefined ? {} : { arms: [...policy.arms] }),
    });
    return undefined;
  } catch (error) {
    if (error instanceof SnapshotError)
      return { status: 422, title: 'The policy cannot be used', detail: error.message };
    throw error;
  }
}

const conflict = (title: string): { readonly refuse: ProblemReply } => ({ refuse: { status: 409, title } });

/** All policies as people read them, the newest first. */
export function policiesView(state: RouterState, snapshotId: string): PoliciesAnswer {
  const statusOf = (version: string): RoutingPolicyView['status'] => {
    if (version === state.serving) return 'serving';
    const own = [...state.rollouts.values()].filter(({ policyVersion }) => policyVersion === version);
    if (own.some(({ life }) => life === 'running')) return 'candidate';
    if (own.some(({ life }) => life === 'promoted')) return 'retired';
    return own.at(-1)?.life === 'rolled_back' ? 'rolled_back' : version === 'v1' ? 'retired' : 'draft';
  };
  const shared = state.arms.arms().map(({ model, n }) => ({ model, n }));
  const policies = [...state.policies.values()]
    .reverse()
    .map(
      ({
        version,
        createdAtMs,
        createdBy,
        note,
        settings,
        features: { scorer, ...features },
        arms,
      }): RoutingPolicyView => ({
        version,
        created_at: new Date(createdAtMs).toISOString(),
        created_by: createdBy,
        note,
        status: statusOf(version),
        settings,
        features:
          scorer === undefined
            ? features
            : { ...features, names: [...features.names, ...scorer.scorer.models.map((model) => `score:${model}`)] },
        ...(scorer === undefined
          ? {}
          : {
              scorer: {
                id: scorer.id,
                strength: scorer.strength,
                models: scorer.scorer.models,
                buckets: scorer.scorer.buckets,
              },
            }),
        models: arms === undefined ? 'shared' : 'frozen',
        arms: arms?.map(({ model, n }) => ({ model, n })) ?? shared,
      }),
    );
  return { serving: state.serving, snapshot_id: snapshotId, policies };
}
