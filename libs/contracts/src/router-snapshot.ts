import { z } from 'zod';
import { Instant, Name, NanoUsd } from './ids.ts';

/**
 * Newest version of the published format. A reader refuses a newer one and goes on with the last snapshot that it could
 * read. 2 has a scorer or a reference cost, which a reader of 1 would leave out in silence; all else is published as 1.
 */
export const ROUTER_SNAPSHOT_FORMAT = 2;

export const Ulid = z.string().regex(/^[0-9A-HJKMNP-TV-Z]{26}$/, 'must be a ULID');
const share = z.number().min(0).max(1);

export const MAX_SCORER_BUCKETS = 16_384;
export const MAX_SCORER_MODELS = 16;
const SCORER_KIND = 'hashed-ridge';
const numbers = z.array(z.number()).max(1_024);

/**
 * A fitted scorer: what quality to expect of each model by the words of a prompt. libs/routing fits and reads it
 * (`fitTextScorer`, `createTextScorer`). At most 699 kB, at 16 models and 16,384 buckets.
 */
export const TextScorerSpec = z
  .strictObject({
    kind: z.literal(SCORER_KIND),
    models: z.array(Name).min(1).max(MAX_SCORER_MODELS),
    buckets: z.int().min(2).max(MAX_SCORER_BUCKETS),
    /** Of the sixteen text features. */
    scale: z.strictObject({ mean: numbers, sd: numbers }),
    /** Mean quality of each model in what it was fitted on. */
    offset: numbers,
    /** Coefficients of bias and features, (1 + features) by models, row by row. */
    features: numbers,
    /** What one step of `grams` is worth, for each model. */
    steps: numbers,
    /** Coefficients of the buckets in steps, 16-bit little-endian integers, buckets by models, in base64. */
    grams: z.string().max(4 * Math.ceil((MAX_SCORER_BUCKETS * MAX_SCORER_MODELS * 2) / 3)),
  })
  .superRefine(({ models, buckets, scale, offset, features, steps, grams }, context) => {
    const wrong = (path: string, is: number, unit: string, wanted: number): void => {
      if (is !== wanted)
        context.addIssue({
          code: 'custom',
          path: [path],
          message: `has ${is} ${unit}; ${models.length} models and ${buckets} buckets need ${wanted}`,
        });
    };
    if (!Number.isInteger(Math.log2(buckets)))
      context.addIssue({ code: 'custom', path: ['buckets'], message: `must be a power of two, not ${buckets}` });
    if (new Set(models).size !== models.length)
      context.addIssue({ code: 'custom', path: ['models'], message: 'names a model twice' });
    if (scale.sd.length !== scale.mean.length)
      context.addIssue({
        code: 'custom',
        path: ['scale'],
        message: `has ${scale.mean.length} means and ${scale.sd.length} deviations`,
      });
    wrong('offset', offset.length, 'numbers', models.length);
    wrong('steps', steps.length, 'numbers', models.length);
    wrong('features', features.length, 'numbers', (scale.mean.length + 1) * models.length);
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(grams))
      context.addIssue({ code: 'custom', path: ['grams'], message: 'must be base64' });
    else wrong('grams', Math.floor((grams.replace(/=+$/, '').length * 3) / 4), 'bytes', buckets * models.length * 2);
  });
export type TextScorerSpec = z.infer<typeof TextScorerSpec>;

/** A scorer as a policy carries it. */
export const PolicyScorer = z.object({
  /** Digest of the scorer; with it every record says whose scores it has. */
  id: z.string().regex(/^[0-9a-f]{16}$/, 'must be 16 hexadecimal digits'),
  /** Rewards that a score is worth beside what the arms have learned of requests of its kind. */
  strength: z.number().positive().max(1e9),
  scorer: TextScorerSpec,
});
export type PolicyScorer = z.infer<typeof PolicyScorer>;

/**
 * Which raw features a policy looks at and how they become its context: a bias of 1, then each standardised and
 * clipped to ±3.
 */
export const FeatureSpec = z.object({
  /** Name and version of the extraction, as libs/routing knows it. */
  extractor: z.string().min(1).max(64),
  names: z.array(z.string().min(1).max(64)).max(512),
  mean: z.array(z.number()).max(512),
  sd: z.array(z.number().min(0)).max(512),
  /** Its scores follow the features of the extractor in every record, one for each of its models. */
  scorer: PolicyScorer.optional(),
});
export type FeatureSpec = z.infer<typeof FeatureSpec>;

/** The model of one arm. `theta` and each row of `inverse` have as many numbers as the context, the bias first. */
export const SnapshotArm = z.object({
  model: Name,
  theta: z.array(z.number()),
  /** A⁻¹ of the ridge regression: the width of a prediction is √(xᵀA⁻¹x). */
  inverse: z.array(z.array(z.number())),
  /** Rewards that it has learned from. */
  n: z.int().min(0),
  /** What calls there came to on average; absent before the first. */
  mean_output_tokens: z.number().min(0).optional(),
  mean_latency_ms: z.number().min(0).optional(),
});
export type SnapshotArm = z.infer<typeof SnapshotArm>;

/**
 * Quality that is asked for, in [0, 1]: of the tenant and feature class, else of the tenant, else of the feature
 * class, else the default.
 */
export const Thresholds = z.object({
  default: share,
  /** By feature class, which is the feature tag of a call. */
  features: z.record(z.string(), share).default({}),
  tenants: z
    .record(z.string(), z.object({ default: share.optional(), features: z.record(z.string(), share).default({}) }))
    .default({}),
});
export type Thresholds = z.infer<typeof Thresholds>;

/** What a policy decides by, beside its models. */
export const PolicySettings = z.object({
  /** Widths of the confidence bounds. */
  alpha: z.number().min(0).max(100),
  /** gamma = scale · √t, frozen in each snapshot; t counts the rewards that were learned. */
  gamma_scale: z.number().min(0).max(1e6),
  /** Smallest probability of an arm that may be drawn. */
  floor: z.number().min(0).max(0.5),
  /** Probability of each arm that is rejected, so that none ever leaves the support of evaluation. */
  rejected_floor: z.number().min(0).max(0.01).default(0),
  /**
   * Which arm to stand on: the cheapest that is good enough, or the one with the best quality less its cost's
   * weight.
   */
  rule: z.enum(['cheapest', 'utility']).default('cheapest'),
  /** What the whole cost of the dearest candidate is worth in quality. */
  cost_weight: share,
  /**
   * Cost that `cost_weight` weighs instead of the dearest candidate of each request, nanodollars: then a dear
   * request gives up more quality to save than a cheap one does. It stands aside while an arm's price is partly its
   * latency.
   */
  reference_cost: z.number().positive().optional(),
  thresholds: Thresholds,
  /** Raises the threshold by this at difficulty 1. */
  difficulty_weight: share,
  /** Lowers the threshold by this at pressure 1. */
  pressure_weight: share,
  /**
   * At pressure 1 this share of an arm's price is its latency instead of its cost, so that a throttled customer
   * gets a faster model.
   */
  latency_weight: share,
  /** Near the end of a money quota the threshold falls, by `drop` when all is used. */
  budget: z.object({ from: share, drop: share }),
});
export type PolicySettings = z.infer<typeof PolicySettings>;

/** A policy as it is published: settings and models of one moment. */
export const SnapshotPolicy = z.object({
  version: Name,
  settings: PolicySettings,
  features: FeatureSpec,
  /** Exploitation of inverse-gap weighting, frozen here. */
  gamma: z.number().min(0),
  arms: z.array(SnapshotArm).max(256),
  /** Stands in for a model that has no arm yet: its coefficients, believed as much as `strength` observations. */
  unseen: z.object({ theta: z.array(z.number()), strength: z.number().positive() }),
});
export type SnapshotPolicy = z.infer<typeof SnapshotPolicy>;

export const ROLLOUT_STAGES = ['shadow', 'canary_1', 'canary_5', 'canary_25', 'full', 'rolled_back'] as const;
export const RolloutStageName = z.enum(ROLLOUT_STAGES);

/**
 * Everything that a decision needs, published by the router and the same for its own `/route` and for gateways that
 * decide in-process. Immutable; the same snapshot, request and draws give the same decision to the last bit.
 */
export const RouterSnapshot = z.object({
  format: z.union([z.literal(1), z.literal(ROUTER_SNAPSHOT_FORMAT)]),
  snapshot_id: Ulid,
  created_at: Instant,
  /** The policy that serves. */
  control: SnapshotPolicy,
  /** The policy that is being rolled out beside it. */
  candidate: z.object({ rollout_id: Ulid, stage: RolloutStageName, weight: share, policy: SnapshotPolicy }).optional(),
  /** Signals by tenant id; one that is absent has none. */
  tenants: z.record(z.string(), z.object({ difficulty: share, pressure: share })),
});
export type RouterSnapshot = z.infer<typeof RouterSnapshot>;

/** Why a decision was no draw. Such a one has propensity 1 and is left out of evaluation. */
export const DeterministicReason = z.enum([
  /** The caller named a provider's own model. */
  'pin',
  /** A rule of the workspace's policy decided. */
  'rule',
  /** Only one candidate was eligible. */
  'single_candidate',
  /** All others were rejected: even their upper bound is below the threshold. */
  'single_open',
  /** No snapshot was at hand: the default model. */
  'no_snapshot',
]);
export type DeterministicReason = z.infer<typeof DeterministicReason>;

export const DecidedArmRecord = z.object({
  model: Name,
  /** Expected cost of this request there. */
  cost_nanousd: NanoUsd,
  latency_ms: z.number().min(0).optional(),
  /** Prediction of the snapshot; absent for an excluded arm, and where nothing was predicted. */
  mean: z.number().optional(),
  width: z.number().min(0).optional(),
  /** What the policy's scorer says of the prompt; it is part of `mean`. */
  score: z.number().optional(),
  /** With which it could be drawn; 0 for an excluded or rejected one. */
  probability: share,
  /** Why it must not be chosen. */
  excluded: z.string().max(300).optional(),
});
export type DecidedArmRecord = z.infer<typeof DecidedArmRecord>;

/**
 * One decision as it is logged, by the router for its own and by a gateway inside the settled event of the call. The
 * probabilities can be computed again from it alone, and the predictions with the snapshot that it names.
 */
export const RouteDecision = z.object({
  decision_id: Ulid,
  /** Absent together with `snapshot_id` when no policy was asked. */
  policy_version: Name.optional(),
  snapshot_id: Ulid.optional(),
  rollout: z
    .object({ id: Ulid, stage: RolloutStageName, variant: z.enum(['control', 'candidate']), weight: share })
    .optional(),
  /**
   * Name of the feature extraction, with `+` and the id of a scorer whose scores follow; and the raw features, so
   * that a policy with another scale can be evaluated.
   */
  extractor: z.string().max(96).optional(),
  features: z.array(z.number()).max(512),
  feature_class: z.string().max(128).optional(),
  arms: z.array(DecidedArmRecord).min(1).max(64),
  chosen: Name,
  /** The arm that would have been chosen without exploration. */
  base: Name,
  /** No arm was proven good enough; the base has the best prediction. */
  fallback: z.boolean(),
  propensity: z.number().gt(0).max(1),
  /** The uniform draw in [0, 1) that chose the arm. */
  u: z.number().min(0).lt(1),
  alpha: z.number(),
  gamma: z.number(),
  floor: z.number(),
  rejected_floor: z.number().default(0),
  rule: z.enum(['cheapest', 'utility']).default('cheapest'),
  cost_weight: z.number(),
  /** What `cost_weight` weighed, where that was not the dearest candidate. */
  reference_cost: z.number().positive().optional(),
  latency_share: share,
  /** Quality that was asked for: base, moved by difficulty, pressure and budget, kept within [0, 1]. */
  threshold: z.object({ value: share, base: share, difficulty: z.number(), pressure: z.number(), budget: z.number() }),
  /** Asked for by the caller; the threshold is exactly it then. */
  min_quality: share.optional(),
  deterministic: DeterministicReason.optional(),
  /** Part of learning and of off-policy evaluation. */
  evaluated: z.boolean(),
});
export type RouteDecision = z.infer<typeof RouteDecision>;
