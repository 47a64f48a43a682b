import {
  ROUTER_SNAPSHOT_FORMAT,
  type FeatureSpec,
  type PolicySettings,
  type RouterSnapshot,
  type SnapshotArm,
  type SnapshotPolicy,
} from '@sluice/contracts';
import { RidgeArm } from '../linear/ridge-arm.ts';
import { TEXT_FEATURES } from '../features/text-features.ts';
import { DEFAULT_EXTRACTOR } from './extractors.ts';

/** Settings of the first policy. */
export const DEFAULT_SETTINGS: PolicySettings = {
  alpha: 0.5,
  gamma_scale: 3,
  floor: 0.005,
  rejected_floor: 0.002,
  rule: 'cheapest',
  cost_weight: 0.2,
  thresholds: { default: 0.75, features: {}, tenants: {} },
  difficulty_weight: 0.1,
  pressure_weight: 0.1,
  latency_weight: 0.5,
  budget: { from: 0.8, drop: 0.25 },
};

/** Means and deviations of the text features over about ten thousand public benchmark prompts. */
export const DEFAULT_FEATURES: FeatureSpec = {
  extractor: DEFAULT_EXTRACTOR,
  names: [...TEXT_FEATURES],
  mean: [
    5.3, 3.63, 4.36, 0.0192, 0.0393, 1.46, 0.0354, 0.138, 0.767, 0.00105, 0.705, 0.00457, 0.0902, 0.08, 0.189, 0.869,
  ],
  sd: [
    0.999, 0.95, 0.811, 0.0397, 0.0352, 0.688, 0.0297, 0.0979, 0.181, 0.0057, 0.935, 0.0134, 0.306, 0.232, 0.436, 0.814,
  ],
};

/** Observations that a prior is worth. */
export const PRIOR_STRENGTH = 10;
/** Quality that is supposed of a model of tier 0, of which nothing was learned, and what each tier adds. */
const PRIOR_QUALITY = 0.6;
const PRIOR_PER_TIER = 0.08;

/** Coefficients that are supposed of a model before its first reward. */
export function priorTheta(tier: number, features: FeatureSpec = DEFAULT_FEATURES): number[] {
  return [Math.min(0.95, PRIOR_QUALITY + PRIOR_PER_TIER * tier), ...features.names.map(() => 0)];
}

/** The arm of a model of which nothing was learned. */
export function untrainedArm(model: string, tier: number): SnapshotArm {
  const arm = RidgeArm.withPrior(priorTheta(tier), PRIOR_STRENGTH);
  return { model, theta: [...arm.theta], inverse: arm.state.aInverse, n: 0 };
}

/** The policy that serves before anything was learned: it stands on the best tier, and explores. */
export function untrainedPolicy(
  version: string,
  models: readonly { readonly id: string; readonly tier: number }[],
  settings: PolicySettings = DEFAULT_SETTINGS,
): SnapshotPolicy {
  return {
    version,
    settings,
    features: DEFAULT_FEATURES,
    gamma: 0,
    arms: models.map(({ id, tier }) => untrainedArm(id, tier)),
    unseen: { theta: priorTheta(0), strength: PRIOR_STRENGTH },
  };
}

/** A whole snapshot of one untrained policy. */
export function untrainedSnapshot({
  snapshotId,
  createdAt,
  models,
}: {
  snapshotId: string;
  createdAt: string;
  models: readonly { readonly id: string; readonly tier: number }[];
}): RouterSnapshot {
  return {
    format: ROUTER_SNAPSHOT_FORMAT,
    snapshot_id: snapshotId,
    created_at: createdAt,
    control: untrainedPolicy('v1', models),
    tenants: {},
  };
}
