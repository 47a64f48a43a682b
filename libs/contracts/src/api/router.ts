import { z } from 'zod';
import { ModelAbility } from '../catalogue.ts';
import { Instant, Name, NanoUsd, Slug } from '../ids.ts';
import { RouteDecision, Ulid } from '../router-snapshot.ts';

const share = z.number().min(0).max(1);

/** A conversation as both dialects write it; only its text is looked at. */
export const RouteMessage = z.looseObject({
  role: z.string().min(1).max(32),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() })).max(1_000), z.null()]),
});

/** `POST /route`. */
export const RouteRequest = z
  .strictObject({
    /** Needed with a service token; with an API key it is the key's and may be left out. */
    workspace: Slug.optional(),
    /** Feature tag of the call. */
    feature: z.string().min(1).max(128).optional(),
    /** The same id gives the same decision again. */
    request_id: z.string().min(1).max(128).optional(),
    messages: z.array(RouteMessage).min(1).max(1_000).optional(),
    /** Raw features by name, instead of messages; all that `GET /policies` names. */
    features: z.record(z.string(), z.unknown()).optional(),
    /** Models that may be chosen; all that the workspace may use when absent. */
    candidates: z.array(Name).min(1).max(64).optional(),
    exclude: z.array(Name).max(64).optional(),
    constraints: z
      .strictObject({
        min_quality: share.optional(),
        max_cost_nanousd: NanoUsd.optional(),
        max_latency_ms: z.number().positive().optional(),
        /** Tokens that the model's context must hold, prompt and answer together. */
        context_tokens: z.int().min(1).optional(),
      })
      .optional(),
    objective: z.strictObject({ cost_weight: share.optional() }).optional(),
    /**
     * What the model must be able to do beside to chat; images, sound and turns of tools in `messages` are found
     * without it.
     */
    needs: z
      .array(ModelAbility.exclude(['chat', 'embeddings']))
      .max(5)
      .optional(),
    /** Size of the call, for its cost; estimated from the messages when absent. */
    input_tokens: z.int().min(0).max(10_000_000).optional(),
    output_tokens: z.int().min(0).max(10_000_000).optional(),
    /** Share of the nearest money quota that is used. */
    budget_used: share.optional(),
    /** Decides without logging: such a decision is never evaluated, learned from or found again. */
    dry_run: z.boolean().default(false),
    explain: z.enum(['none', 'summary', 'full']).default('full'),
  })
  .refine((request) => (request.messages === undefined) !== (request.features === undefined), {
    message: 'give exactly one of messages and features',
    path: ['messages'],
  });
export type RouteRequest = z.infer<typeof RouteRequest>;

export const ExplainedArm = z.object({
  model: Name,
  q_mean: z.number().optional(),
  q_width: z.number().optional(),
  q_lcb: z.number().optional(),
  q_ucb: z.number().optional(),
  /** Of the policy's scorer; part of `q_mean`. */
  q_score: z.number().optional(),
  cost_nanousd: NanoUsd,
  latency_ms: z.number().optional(),
  utility: z.number().optional(),
  probability: share,
  class: z.enum(['proven', 'possible', 'rejected', 'excluded']),
  excluded_reason: z.string().optional(),
});
export type ExplainedArm = z.infer<typeof ExplainedArm>;

export const RouteThreshold = z.object({
  tau: share,
  base: share,
  difficulty_adj: z.number(),
  pressure_adj: z.number(),
  budget_adj: z.number(),
});

export const RouteAnswer = z.object({
  decision_id: Ulid,
  model: Name,
  /** First place of the workspace's chain that offers the model. */
  provider: Name.optional(),
  propensity: share,
  deterministic: z.string().optional(),
  dry_run: z.boolean(),
  policy: z.object({
    version: z.string(),
    snapshot_id: z.string(),
    stage: z.string(),
    variant: z.enum(['control', 'candidate']),
  }),
  /** One sentence, from `summary` on. */
  reason: z.string().optional(),
  /** The constraint that decided. */
  decided_by: z.enum(['quality', 'cost', 'exploration', 'only_candidate', 'fallback', 'budget', 'pressure']).optional(),
  threshold: RouteThreshold.optional(),
  /** With `full` only, from here on. */
  probabilities: z.record(z.string(), share).optional(),
  exploration: z
    .object({
      strategy: z.literal('igw'),
      gamma: z.number(),
      floor: z.number(),
      base_arm: Name,
      explored: z.boolean(),
      u: z.number(),
    })
    .optional(),
  /** What the base arm is chosen by; `reference_cost_nanousd` where the weight is not of the dearest candidate. */
  objective: z
    .object({
      rule: z.enum(['cheapest', 'utility']),
      cost_weight: z.number(),
      reference_cost_nanousd: z.number().optional(),
    })
    .optional(),
  features: z.record(z.string(), z.number()).optional(),
  signals: z.object({ difficulty: share, pressure: share, budget_used: share }).optional(),
  arms: z.array(ExplainedArm).optional(),
  /** Whom to try next, best first. */
  fallbacks: z.array(Name),
  /** Until then feedback is learned from. */
  expires_at: Instant,
});
export type RouteAnswer = z.infer<typeof RouteAnswer>;

export const MAX_ROUTE_BATCH = 256;
/** `POST /route/batch`: each item is judged alone. */
export const RouteBatchRequest = z.strictObject({ items: z.array(z.unknown()).min(1).max(MAX_ROUTE_BATCH) });
export const RouteBatchAnswer = z.object({
  items: z.array(
    z.union([
      z.object({ status: z.literal(200), answer: RouteAnswer }),
      z.object({
        status: z.int(),
        title: z.string(),
        detail: z.string().optional(),
        errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
      }),
    ]),
  ),
});
export type RouteBatchAnswer = z.infer<typeof RouteBatchAnswer>;

export const MAX_FEEDBACK_BATCH = 1_000;
/**
 * `quality` is what the models learn; `outcome` is 1 for a call that served its purpose, else 0, and stands in
 * where no quality comes.
 */
export const FEEDBACK_METRICS = ['quality', 'outcome'] as const;
export const FeedbackItem = z.strictObject({
  decision_id: Ulid,
  metric: z.enum(FEEDBACK_METRICS).default('quality'),
  value: z.number().min(0, 'must lie in [0, 1]').max(1, 'must lie in [0, 1]'),
});
export type FeedbackItem = z.infer<typeof FeedbackItem>;
/** `POST /feedback`: one, or a list of at most 1,000. */
export const FeedbackRequest = z.union([FeedbackItem, z.array(FeedbackItem).min(1).max(MAX_FEEDBACK_BATCH)]);
export type FeedbackRequest = z.infer<typeof FeedbackRequest>;
export const FeedbackResult = z.object({
  decision_id: z.string(),
  metric: z.string(),
  /**
   * 202 taken, or taken before with the same value; 404 unknown; 409 another value was given; 410 past the reward
   * timeout.
   */
  status: z.union([z.literal(202), z.literal(404), z.literal(409), z.literal(410)]),
  title: z.string(),
});
export type FeedbackResult = z.infer<typeof FeedbackResult>;
export const FeedbackAnswer = z.object({ results: z.array(FeedbackResult) });
export type FeedbackAnswer = z.infer<typeof FeedbackAnswer>;

/**
 * Where a decision stands with its reward. `defaulted` and `expired` were not rated in time: with and without a
 * default reward.
 */
export const REWARD_STATES = ['pending', 'rewarded', 'defaulted', 'expired', 'not_evaluated'] as const;
export const DecisionView = z.object({
  decision: RouteDecision,
  tenant: Name,
  workspace: Slug,
  at: Instant,
  source: z.enum(['router', 'gateway']),
  reward_state: z.enum(REWARD_STATES),
  reward: share.optional(),
  feedback: z.array(z.object({ metric: z.string(), value: share, at: Instant })),
  /**
   * Of the call that followed it; absent until its usage event came. `cost_nanousd` is what providers charge us,
   * for services only.
   */
  call: z
    .object({
      outcome: z.string(),
      executed_model: Name.optional(),
      cost_nanousd: NanoUsd.optional(),
      billed_nanousd: NanoUsd,
      output_tokens: z.int(),
      total_ms: z.number(),
    })
    .optional(),
  expires_at: Instant,
  reason: z.string(),
  arms: z.array(ExplainedArm),
  /** With `?verify=1`. */
  verification: z
    .object({
      /** Largest difference between a logged probability and the one computed again from the log. */
      max_difference: z.number(),
      matches: z.boolean(),
      /** The same for the predictions, from the snapshot; `snapshot_gone` when that is not kept any more. */
      predictions: z.union([
        z.literal('snapshot_gone'),
        z.literal('none'),
        z.object({ max_difference: z.number(), matches: z.boolean() }),
      ]),
    })
    .optional(),
});
export type DecisionView = z.infer<typeof DecisionView>;

export const DecisionsQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  tenant: Name.optional(),
});
export const DecisionsAnswer = z.object({ decisions: z.array(DecisionView) });
export type DecisionsAnswer = z.infer<typeof DecisionsAnswer>;
