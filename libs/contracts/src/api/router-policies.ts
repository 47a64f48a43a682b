import { z } from 'zod';
import { Instant, Name } from '../ids.ts';
import {
  FeatureSpec,
  PolicyScorer,
  PolicySettings,
  RolloutStageName,
  SnapshotArm,
  TextScorerSpec,
  Thresholds,
  Ulid,
} from '../router-snapshot.ts';

const share = z.number().min(0).max(1);

/** A person who acts; automatic changes of the router have the kind `system`. */
export const HumanActor = z.strictObject({ kind: z.literal('person'), id: z.string().min(1).max(200) });
export type HumanActor = z.infer<typeof HumanActor>;
const Reason = z.string().trim().min(3, 'say why, in at least 3 characters').max(500);

export const PolicyOrigin = z.enum(['serving', 'candidate', 'draft', 'retired', 'rolled_back']);
export const RoutingPolicyView = z.object({
  version: Name,
  created_at: Instant,
  created_by: z.string(),
  note: z.string(),
  status: PolicyOrigin,
  settings: PolicySettings,
  /** `names` are all that `POST /route` takes as `features`. */
  features: FeatureSpec.omit({ scorer: true }),
  /** Its scorer, without the coefficients. */
  scorer: PolicyScorer.pick({ id: true, strength: true })
    .extend({ models: z.array(Name), buckets: z.int() })
    .optional(),
  /** `shared`: the models that learn from live rewards; `frozen`: models of its own that never change. */
  models: z.enum(['shared', 'frozen']),
  arms: z.array(z.object({ model: Name, n: z.int() })),
});
export type RoutingPolicyView = z.infer<typeof RoutingPolicyView>;
export const PoliciesAnswer = z.object({ serving: Name, snapshot_id: Ulid, policies: z.array(RoutingPolicyView) });
export type PoliciesAnswer = z.infer<typeof PoliciesAnswer>;

/** `POST /policies`: what is left out is as in the serving policy. */
export const CreatePolicy = z.strictObject({
  version: Name,
  note: z.string().min(3).max(500),
  actor: HumanActor,
  settings: PolicySettings.partial()
    // Without the defaults of what is read: those would stand in for what the serving policy has. Null takes it away.
    .extend({
      thresholds: Thresholds.optional(),
      rule: z.enum(['cheapest', 'utility']).optional(),
      rejected_floor: z.number().min(0).max(0.01).optional(),
      reference_cost: z.number().positive().nullable().optional(),
    })
    .strict()
    .prefault({}),
  /** Fitted elsewhere, for the prompts are kept nowhere; null for none. */
  scorer: TextScorerSpec.nullable().optional(),
  /** Rewards that a score is worth beside what the arms have learned. */
  scorer_strength: z.number().positive().max(1e9).default(1_000),
  /** Models of its own, fitted elsewhere on the same features; the shared ones when absent. */
  arms: z.array(SnapshotArm).min(1).max(64).optional(),
});
export type CreatePolicy = z.infer<typeof CreatePolicy>;

export const EvaluatePolicy = z.strictObject({
  /** Newest rows at most. */
  limit: z.int().min(1).max(200_000).default(50_000),
  tenant: Name.optional(),
  /** Only decisions of this logged policy version. */
  logged_by: Name.optional(),
});
export type EvaluatePolicy = z.infer<typeof EvaluatePolicy>;
const Interval = z.object({ lower: z.number(), upper: z.number() });
const EvaluationDiagnostics = z.object({
  rows: z.int(),
  ess: z.number(),
  ess_share: z.number(),
  mean_weight: z.number(),
  mean_weight_error: z.number(),
  max_weight: z.number(),
  min_logged_probability: z.number(),
  support_deficiency: z.number(),
});
const FeedbackRate = z.object({ model: Name, decisions: z.int(), rated: z.int(), rate: share });
const evaluated = {
  policy_version: Name,
  /** Decisions that were rated, of all that could have been. */
  feedback: z.array(FeedbackRate),
  /** Rates of two arms differ by more than 5 percentage points: what is missing may not be missing at random. */
  feedback_uneven: z.boolean(),
  reward_range: z.object({ min: z.number(), max: z.number() }).optional(),
};
export const EvaluationAnswer = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('insufficient'),
    ...evaluated,
    reasons: z.array(z.string()),
    diagnostics: EvaluationDiagnostics.optional(),
  }),
  z.object({
    status: z.literal('estimated'),
    ...evaluated,
    estimates: z.object({
      ips: z.number(),
      ips_clipped: z.number(),
      snips: z.number(),
      dm: z.number(),
      dr: z.number(),
      sndr: z.number(),
      switch: z.number(),
      dr_os: z.number(),
    }),
    /** 95 %. */
    intervals: z.object({ snips: Interval, dr: Interval }),
    /**
     * Mean reward of what was logged, over the same rows, and the lower bound of the difference that holds at all
     * times.
     */
    logged_value: z.number(),
    difference_lower: z.number(),
    /** Distance of DM and DR in standard errors. */
    model_gap: z.number(),
    /** Cost per decision of the evaluated policy by SNIPS, and of what was logged, nanodollars. */
    cost: z.object({ policy_nanousd: z.number(), logged_nanousd: z.number() }),
    diagnostics: EvaluationDiagnostics,
  }),
]);
export type EvaluationAnswer = z.infer<typeof EvaluationAnswer>;

export const RolloutView = z.object({
  id: Ulid,
  policy_version: Name,
  /** The policy that it is compared with. */
  control_version: Name,
  /** `live` on traffic; `replay` on simulated decisions, which never reach a gateway. */
  clock: z.enum(['live', 'replay']),
  state: z.enum(['created', 'running', 'promoted', 'rolled_back', 'aborted']),
  stage: RolloutStageName,
  /** Share of decisions that the candidate makes. */
  weight: share,
  samples: z.int(),
  needed: z.int(),
  /** Natural logarithms of the e-values of this stage, and what they must reach. */
  evidence: z.object({
    log_breach: z.number(),
    log_breach_at: z.number(),
    log_promote: z.number(),
    log_promote_at: z.number(),
  }),
  quality: z.object({
    candidate: z.number().optional(),
    control: z.number().optional(),
    null_mean: z.number(),
    margin: z.number(),
  }),
  /** Hard limits, each with its present value; a breach of one rolls back at once. */
  hard: z.array(
    z.object({
      name: z.enum(['error_rate', 'latency_p99_ms', 'cost_per_request']),
      candidate: z.number(),
      control: z.number(),
      limit: z.number(),
      samples: z.int(),
    }),
  ),
  /** Seconds until the stage has its samples at the present rate; null while that is not known. */
  eta_s: z.number().nullable(),
  requests_needed: z.number().nullable(),
  /** What the samples of this stage are. */
  sample_kind: z.string(),
  created_at: Instant,
  history: z.array(
    z.object({
      at: Instant,
      from: z.string(),
      to: z.string(),
      actor: z.string(),
      reason: z.string(),
      samples: z.int(),
    }),
  ),
  /** Evidence over time: a bounded number of points over all stages. */
  points: z.array(
    z.object({
      at: Instant,
      stage: RolloutStageName,
      samples: z.int(),
      log_breach: z.number(),
      log_promote: z.number(),
      mean: z.number(),
    }),
  ),
});
export type RolloutView = z.infer<typeof RolloutView>;
export const RolloutsAnswer = z.object({ rollouts: z.array(RolloutView) });
export type RolloutsAnswer = z.infer<typeof RolloutsAnswer>;
/** `POST /rollouts`: made, not started. */
export const CreateRollout = z.strictObject({
  policy_version: Name,
  actor: HumanActor,
  reason: Reason,
  margin: z.number().gt(0).max(0.5).default(0.03),
});
export type CreateRollout = z.infer<typeof CreateRollout>;
/** `POST /rollouts/:id/start`, `abort` and `reset`. A reset leaves the old one as it is and makes a new one. */
export const RolloutAction = z.strictObject({ actor: HumanActor, reason: Reason });
export type RolloutAction = z.infer<typeof RolloutAction>;

/**
 * `POST /rollouts/replay`: a rollout on simulated decisions by a clock that runs faster, for demonstrations. It is
 * watched like a live one by the same monitor, and never reaches a gateway.
 */
export const ReplayRollout = z.strictObject({
  actor: HumanActor,
  reason: Reason,
  /** True mean quality of the serving policy and of the candidate. */
  control_quality: z.number().gt(0.05).lt(1).default(0.9),
  candidate_quality: z.number().gt(0).lt(1),
  /** Real seconds that the replay may take at most. */
  seconds: z.number().min(0.1).max(60).default(20),
  /** Simulated requests per simulated second. */
  requests_per_second: z.int().min(1).max(100_000).default(200),
  seed: z.int().min(0).max(4_294_967_295).default(1),
});
export type ReplayRollout = z.infer<typeof ReplayRollout>;

export const TenantProfileView = z.object({
  tenant: Name,
  difficulty: share,
  pressure: share,
  /**
   * Mean length of its answers less what the models that gave them use; positive where it is harder than its models
   * explain. Tokens.
   */
  residual_tokens: z.number(),
  calls: z.int(),
  arrivals: z.int(),
  events: z.int(),
  last_ms: z.number(),
});
export type TenantProfileView = z.infer<typeof TenantProfileView>;
export const TenantsAnswer = z.object({ tenants: z.array(TenantProfileView) });
export type TenantsAnswer = z.infer<typeof TenantsAnswer>;

export const ArmView = z.object({
  model: Name,
  /** Rewards learned, and decisions that chose it. */
  n: z.int(),
  decisions: z.int(),
  /** Predicted for a mean request, with the half width of the policy's bounds. */
  quality: z.number(),
  confidence: z.number(),
  mean_reward: z.number().optional(),
  mean_cost_nanousd: z.number().optional(),
  mean_latency_ms: z.number().optional(),
  mean_output_tokens: z.number().optional(),
  feedback_rate: share.optional(),
});
export type ArmView = z.infer<typeof ArmView>;
/**
 * `GET /arms`: the arms, and quality against cost for thresholds from 0 to 1 over recent decisions, as the models
 * predict it.
 */
export const ArmsAnswer = z.object({
  policy_version: Name,
  snapshot_id: Ulid,
  arms: z.array(ArmView),
  frontier: z.object({
    decisions: z.int(),
    points: z.array(z.object({ threshold: share, quality: z.number(), cost_nanousd: z.number() })),
    serving_threshold: share,
  }),
});
export type ArmsAnswer = z.infer<typeof ArmsAnswer>;

const StoredTable = z.object({ rows: z.int().optional(), oldest: Instant.optional(), bytes: z.int().optional() });
/** `GET /storage`: how much of its log the router keeps, and for how long. */
export const StorageAnswer = z.object({
  /** When it was counted; figures are absent before. */
  measured_at: Instant.optional(),
  /** What is older, or beyond so many rows of a table, is deleted. */
  keep: z.object({ days: z.number(), rows: z.int() }),
  /** With their feedback. Evaluations reach back to the oldest of them. */
  decisions: StoredTable,
  journal: StoredTable,
  /** Rows that were deleted since the start of the process. */
  pruned: z.object({ decisions: z.int(), journal: z.int() }),
  /** Decisions beyond their bound that stay, because they may still be rated or a rollout needs them. */
  held: z.int(),
  /** No decision since then is deleted while this rollout runs. */
  kept_for_rollout_since: Instant.optional(),
});
export type StorageAnswer = z.infer<typeof StorageAnswer>;

/** Steps of the router's reactions to drift, in their order. */
export const DriftStep = z.enum(['watching', 'alert', 'explore', 'forget_slowly', 'forget', 'freeze', 'rollback']);
export type DriftStep = z.infer<typeof DriftStep>;
const DriftReactions = z.object({
  /** `held`: a person keeps it at this step. */
  mode: z.enum(['watching', 'reacting', 'held']),
  step: DriftStep,
  /** The highest step that this deployment lets it take by itself; `watching` when reactions are off. */
  highest: DriftStep,
  steps: z.array(DriftStep),
  /**
   * Factors of exploitation and of the floors; share that a reward of a suspected model leaves of earlier ones;
   * nothing is learned.
   */
  effects: z.object({ gamma_factor: z.number(), floor_factor: z.number(), keep: z.number(), frozen: z.boolean() }),
  since: Instant.optional(),
  /** Models whose rewards were the evidence: these forget. */
  suspects: z.array(Name).optional(),
  held_by: z.string().optional(),
  held_for: z.string().optional(),
  /** What ends the step by itself: no detection until then, and so many more rewards. */
  ends: z.object({ to: DriftStep, not_before: Instant, rewards_left: z.int() }).optional(),
  /** Rewards of all time that were not learned because of a freeze. */
  withheld: z.int(),
  /** Newest first. */
  history: z.array(
    z.object({
      at: Instant,
      from: DriftStep,
      to: DriftStep,
      kind: z.enum(['up', 'down', 'limited', 'held', 'released']),
      actor: z.string(),
      why: z.string(),
    }),
  ),
});
/**
 * `POST /drift/hold` keeps the reactions at a step until they are released; `rollback` is done by aborting a
 * rollout.
 */
export const HoldDrift = z.strictObject({ step: DriftStep.exclude(['rollback']), actor: HumanActor, reason: Reason });
export type HoldDrift = z.infer<typeof HoldDrift>;
/** `POST /drift/release`. */
export const ReleaseDrift = z.strictObject({ actor: HumanActor, reason: Reason });
export type ReleaseDrift = z.infer<typeof ReleaseDrift>;

export const DRIFT_LEVELS = ['too_few', 'stable', 'moderate', 'major'] as const;
export const DriftAnswer = z.object({
  window: z.object({ reference: z.int(), recent: z.int(), needed: z.int() }),
  /**
   * Population stability index over deciles of the reference, and Kolmogorov-Smirnov with a false discovery rate of
   * 5 % over all features.
   */
  features: z.array(
    z.object({
      name: z.string(),
      psi: z.number(),
      ks_distance: z.number(),
      ks_p: z.number(),
      discovery: z.boolean(),
      level: z.enum(DRIFT_LEVELS),
    }),
  ),
  /** Stability of the mix of chosen models. */
  arm_mix: z.object({ psi: z.number(), level: z.enum(DRIFT_LEVELS) }),
  /**
   * Mean of uniform over logged probability in the newest window: 1 where what is logged is what was drawn by.
   * `off` beyond four standard errors.
   */
  mean_weight: z
    .object({ n: z.int(), mean: z.number(), error: z.number(), level: z.enum(['too_few', 'stable', 'off']) })
    .optional(),
  /** What the router does about it; absent of a router that does not know reactions. */
  reactions: DriftReactions.optional(),
  /** Page-Hinkley on the rewards of each model less what was predicted, and their mean. */
  rewards: z.array(
    z.object({
      model: Name,
      n: z.int(),
      statistic: z.number(),
      threshold: z.number(),
      /** Of the newest alarm; the detector begins anew after each. */
      alarmed_at: Instant.optional(),
      calibration: z.number(),
      /**
       * The same of as many newest rewards as have one mean, by ADWIN; how often it was cut, a fall or a rise, and
       * when last.
       */
      recent: z.object({ n: z.int(), calibration: z.number(), cuts: z.int(), cut_at: Instant.optional() }).optional(),
    }),
  ),
});
export type DriftAnswer = z.infer<typeof DriftAnswer>;
