import type { PolicySettings } from '@sluice/contracts';
import {
  compileSnapshot,
  decideFromSnapshot,
  DEFAULT_FEATURES,
  DEFAULT_SETTINGS,
  LADDER_OPTIONS,
  observeDrift,
  type ReactionStep,
} from '@sluice/routing';
import { createRandom, createRoutingSimulator } from '@sluice/routing/testing';
import { windowsCounted } from '../drift/drift-reactor.ts';
import { createFeatureDrift } from '../drift/feature-drift.ts';
import { rewardVerdicts, windowVerdicts } from '../drift/drift-verdicts.ts';
import type { JournalBody } from '../state/journal.ts';
import { createRouterState, type ReactionRecord, type RouterState } from '../state/router-state.ts';
import { ulid } from './fixtures.ts';

/** Decisions between two snapshots, at one in a second. */
const BATCH = 50;
const BATCH_MS = 50_000;
const SETTINGS: PolicySettings = {
  ...DEFAULT_SETTINGS,
  rule: 'utility',
  thresholds: { default: 0, features: {}, tenants: {} },
};

export interface DriftRun {
  readonly state: RouterState;
  /** Sum of what the best model would have given more than the chosen ones, from the change on. */
  readonly regret: number;
  readonly steps: readonly ReactionRecord[];
  /** Share of the decisions of the last quarter that chose each model. */
  readonly mix: Readonly<Record<string, number>>;
}

/**
 * A router that learns on the simulator, with its reactions or without; from `changeAt` on a model is worth
 * `factor` of what it was.
 */
export function simulateDrift({
  seed,
  decisions,
  highest,
  changeAt = 0,
  model,
  factor = 1,
}: {
  seed: number;
  decisions: number;
  highest: ReactionStep;
  changeAt?: number;
  model?: string;
  factor?: number;
}): DriftRun {
  const simulator = createRoutingSimulator(seed);
  const random = createRandom(seed + 1_000);
  const state = createRouterState();
  const drift = createFeatureDrift();
  let nowMs = 0;
  let regret = 0;
  const mix: Record<string, number> = {};
  const apply = (body: JournalBody): void => state.apply({ seq: state.seq + 1, atMs: nowMs, body });
  apply({
    kind: 'policy_created',
    policy: { version: 'v1', note: 'simulated', createdBy: 'test', settings: SETTINGS, features: DEFAULT_FEATURES },
  });
  apply({ kind: 'models_seen', models: simulator.models.map((id, tier) => ({ id, tier })) });

  function react(): void {
    const verdicts = [
      ...rewardVerdicts(state.arms.summaries()),
      ...(drift.seen % 250 === 0 ? windowVerdicts(drift.report(DEFAULT_FEATURES.names), () => drift.seen) : []),
    ];
    const { state: reaction, change } = observeDrift(
      state.reaction,
      { verdicts, rewards: state.arms.rewards, nowMs },
      { ...LADDER_OPTIONS, highest, canRollBack: state.revocable !== undefined },
    );
    if (reaction === state.reaction) return;
    const { counted } = state.reaction;
    apply({ kind: 'drift_reaction', reaction, change, actor: 'system' });
    if (change?.kind === 'up' || windowsCounted(counted, reaction.counted)) drift.rebase();
  }

  for (let t = 0; t < decisions; t += BATCH) {
    const compiled = compileSnapshot({
      format: 1,
      snapshot_id: ulid(t),
      created_at: new Date(nowMs).toISOString(),
      control: state.publish(state.serving),
      tenants: {},
    });
    const rewards: JournalBody[] = [];
    for (let i = t; i < t + BATCH; i += 1) {
      const asked = simulator.next();
      const means = asked.means.map((mean, k) =>
        i >= changeAt && simulator.models[k] === model ? mean * factor : mean,
      );
      const dearest = Math.max(...asked.costs);
      const features = asked.features.map(
        (value, k) => (DEFAULT_FEATURES.mean[k] as number) + (DEFAULT_FEATURES.sd[k] as number) * value,
      );
      const decided = decideFromSnapshot(compiled, {
        decisionId: ulid(i),
        tenant: 'acme',
        features,
        candidates: simulator.models.map((id, k) => ({ model: id, costNanoUsd: asked.costs[k] as number })),
        u: random(),
        variantDraw: 0.5,
      });
      if (decided.status !== 'decided') throw new Error(decided.status);
      const at = simulator.models.indexOf(decided.decision.chosen);
      const utilities = means.map((mean, k) => mean - (SETTINGS.cost_weight * (asked.costs[k] as number)) / dearest);
      if (i >= changeAt) regret += Math.max(...utilities) - (utilities[at] as number);
      if (i >= 0.75 * decisions) mix[decided.decision.chosen] = (mix[decided.decision.chosen] ?? 0) + 4 / decisions;
      drift.add(decided.decision);
      rewards.push({
        kind: 'reward',
        tenant: 'acme',
        reward: simulator.reward({ ...asked, means }, at),
        decision: decided.decision,
      });
    }
    nowMs += BATCH_MS;
    for (const reward of rewards) apply(reward);
    react();
  }
  return { state, regret, steps: state.reactions, mix };
}
