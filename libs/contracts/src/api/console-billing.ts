import { z } from 'zod';
import { Instant, NanoUsd } from '../ids.ts';

/*
 * Billing is the tenant's: every workspace of it shows the same. All money is whole nanodollars; docs/billing.md states each rounding.
 */

const count = z.int().min(0);
/** Credits are negative. */
const SignedNanoUsd = z.int();

/** A stretch of the month under one plan with the same terms. */
const Segment = z.strictObject({
  from: Instant,
  to: Instant,
  plan: z.string(),
  plan_name: z.string(),
  /** The fee of a whole month and the part of it that is due for the segment. */
  monthly_fee_nanousd: NanoUsd,
  fee_nanousd: NanoUsd,
  /** The allotment of a whole month and the segment's part. */
  monthly_allotment_tokens: count,
  allotment_tokens: count,
  used_tokens: count,
  overage_tokens: count,
  /** Picodollars for a token beyond the allotment; null where the plan sells none. */
  overage_picousd_per_token: count.nullable(),
  overage_nanousd: NanoUsd,
});

export const StatementView = z.strictObject({
  tenant: z.strictObject({ id: z.string(), name: z.string() }),
  /** `2026-03`, of the tenant's time zone. */
  month: z.string(),
  time_zone: z.string(),
  from: Instant,
  to: Instant,
  /** The month is over: the figures move only by corrections. */
  closed: z.boolean(),
  segments: z.array(Segment),
  /** What was used, by model. `value_nanousd` is by the price book, for information: the invoice counts tokens. */
  usage: z.array(
    z.strictObject({ model: z.string().nullable(), calls: count, tokens: count, value_nanousd: SignedNanoUsd }),
  ),
  fee_nanousd: NanoUsd,
  allotment_tokens: count,
  used_tokens: count,
  overage_tokens: count,
  overage_nanousd: NanoUsd,
  /** The hard cap of overage; null without one. */
  overage_cap_nanousd: NanoUsd.nullable(),
  /** Overage above the cap, which is not charged. */
  waived_nanousd: NanoUsd,
  /** Corrections in money alone, negative when in the customer's favour. */
  credits_nanousd: SignedNanoUsd,
  total_nanousd: SignedNanoUsd,
  total_usd: z.string(),
});
export type StatementView = z.infer<typeof StatementView>;

/** `GET /api/billing` and the answer of `PUT`; `version` is the `ETag`. */
export const BillingView = z.strictObject({
  version: z.int().min(1),
  plan: z.strictObject({
    id: z.string(),
    name: z.string(),
    fee_nanousd: NanoUsd,
    allotment_tokens: count,
    overage_picousd_per_token: count.nullable(),
  }),
  /** This month so far. */
  statement: StatementView,
  overage_cap: z.strictObject({
    nanousd: NanoUsd.nullable(),
    /** The customer's own, or the plan's. */
    source: z.enum(['customer', 'plan']),
    /** Tokens of the month from which on gateways refuse; null when they do not. */
    refuses_at_tokens: count.nullable(),
    editable: z.boolean(),
  }),
  /** End of the month. Null in a month's first hours, when there is nothing to go by. */
  forecast: z
    .strictObject({
      method: z.string(),
      tokens: z.strictObject({ low: count, expected: count, high: count }),
      total_nanousd: z.strictObject({ low: SignedNanoUsd, expected: SignedNanoUsd, high: SignedNanoUsd }),
      /** When the cap would be met, if it is; by the expectation. */
      cap_reached_at: Instant.nullable(),
    })
    .nullable(),
  /** Months that have a statement, newest first. */
  months: z.array(z.string()),
});
export type BillingView = z.infer<typeof BillingView>;

/** `PUT /api/billing` with `If-Match`: the hard cap of overage a month; null goes back to the plan's. */
export const BillingRequest = z.strictObject({ overage_cap_nanousd: NanoUsd.max(1_000_000_000_000_000).nullable() });
export type BillingRequest = z.infer<typeof BillingRequest>;
