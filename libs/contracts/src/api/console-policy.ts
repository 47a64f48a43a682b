import { z } from 'zod';
import { Slug } from '../ids.ts';
import { ChainEntry, Policy, PolicyOverride, Routing } from '../policy.ts';

/*
 * The policy as a customer sees and edits it, in the language of policies. The credentials that a chain names are ours and not in it.
 */

const CustomerChain = z
  .array(ChainEntry.omit({ credential: true }))
  .min(1)
  .max(8);
const OverrideRouting = PolicyOverride.shape.routing.unwrap();

/**
 * `PUT /api/policy`: what the workspace overrides. Replaces the fields that a customer may edit; the others stay as
 * they are.
 */
export const CustomerOverride = PolicyOverride.omit({ maxPoolSharePercent: true }).extend({
  routing: OverrideRouting.extend({ chain: CustomerChain.optional() }).optional(),
});
export type CustomerOverride = z.infer<typeof CustomerOverride>;

export const CustomerPolicy = Policy.omit({ maxPoolSharePercent: true }).extend({
  routing: Routing.extend({ chain: CustomerChain }),
});
export type CustomerPolicy = z.infer<typeof CustomerPolicy>;

/** What a customer may do with a field: anything the schema allows, only stricter than the plan, or nothing. */
export const PolicyFieldRule = z.enum(['free', 'stricter', 'fixed']);
export type PolicyFieldRule = z.infer<typeof PolicyFieldRule>;

/** `GET /api/policy` and the answer of `PUT`; `version` is the `ETag`, to be given back in `If-Match`. */
export const PolicyView = z.strictObject({
  workspace: Slug,
  version: z.int().min(1),
  override: CustomerOverride,
  effective: CustomerPolicy,
  /** The plan's own policy: what holds where nothing is overridden. */
  plan: z.strictObject({ id: z.string(), policy: CustomerPolicy }),
  /** Every field of the policy by its path, such as `limits.requests`. */
  fields: z.array(
    z.strictObject({
      path: z.string(),
      source: z.enum(['plan', 'override']),
      rule: PolicyFieldRule,
      /** Whether the asking person may change it. */
      editable: z.boolean(),
      /** Why not, or within which bounds; in words. */
      note: z.string().nullable(),
    }),
  ),
});
export type PolicyView = z.infer<typeof PolicyView>;

/** The 412 of `PUT /api/policy`: a problem with what the editor needs to merge field by field. */
export const PolicyConflict = z.strictObject({
  type: z.literal('about:blank'),
  title: z.string(),
  status: z.literal(412),
  detail: z.string(),
  request_id: z.string(),
  /** As it was when the editor read it; null when that version is not known any more. */
  base: z.strictObject({ version: z.int(), override: CustomerOverride }).nullable(),
  /** As it is now. */
  current: PolicyView,
  /** As the editor wanted it. */
  yours: CustomerOverride,
  /**
   * Paths that both have changed differently; the others merge by themselves. All that differ when there is no
   * base.
   */
  conflicts: z.array(z.string()),
});
export type PolicyConflict = z.infer<typeof PolicyConflict>;
