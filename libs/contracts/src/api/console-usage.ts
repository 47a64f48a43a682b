import { z } from 'zod';
import { Instant, NanoUsd } from '../ids.ts';

/*
 * Usage and series as the BFF answers them. Money is null for a role without `cost:read`.
 */

const count = z.int().min(0);
const money = NanoUsd.nullable();

/** What usage can be grouped by; `day` follows the calendar of UTC. */
export const UsageBy = z.enum(['model', 'feature', 'key', 'end_user', 'day']);
export type UsageBy = z.infer<typeof UsageBy>;

const sums = { calls: count, input_tokens: count, output_tokens: count, billed_nanousd: money };
export const UsageSums = z.strictObject(sums);
export type UsageSums = z.infer<typeof UsageSums>;

/**
 * `GET /api/usage?from=&to=&step=hour|day&by=`; the last 30 days by day and model unless told otherwise, 400 days
 * at most. `format=csv` answers the groups as `text/csv`.
 */
export const UsageView = z.strictObject({
  from: Instant,
  to: Instant,
  step: z.enum(['hour', 'day']),
  by: UsageBy,
  /** By start of the step, oldest first. */
  points: z.array(
    z.strictObject({ at: Instant, model: z.string().nullable(), feature: z.string().nullable(), ...sums }),
  ),
  /**
   * Dearest first, at most 500; the rest is one row with `rest`. `previous` is the period of the same length just
   * before.
   */
  groups: z.array(
    z.strictObject({
      /** The model, feature, key id, end user or day; null where the calls did not say. */
      key: z.string().nullable(),
      /** Name of a key that is still there. */
      name: z.string().nullable(),
      rest: z.boolean(),
      ...sums,
      previous: UsageSums.nullable(),
    }),
  ),
  totals: UsageSums,
  previous: z.strictObject({ from: Instant, to: Instant, ...sums }),
});
export type UsageView = z.infer<typeof UsageView>;

export const SeriesMetric = z.enum(['calls', 'tokens', 'billed_nanousd', 'failures', 'latency_ms']);
export type SeriesMetric = z.infer<typeof SeriesMetric>;

/**
 * `GET /api/series?metric=&from=&to=&points=`. `billed_nanousd` needs `cost:read`. Downsampled so that the smallest
 * and the largest value of every bucket are still there; where nothing was measured the value is null, and stays
 * so.
 */
export const SeriesView = z.strictObject({
  metric: SeriesMetric,
  from: Instant,
  to: Instant,
  /** Seconds that one sample stands for. */
  step_s: z.int().min(1),
  /** Samples before and after. */
  samples: count,
  downsampled: z.boolean(),
  points: z.array(z.strictObject({ at: Instant, value: z.number().nullable() })).max(10_000),
});
export type SeriesView = z.infer<typeof SeriesView>;

export const ModelsView = z.strictObject({
  rows: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      context_tokens: count,
      max_output_tokens: count,
      abilities: z.array(z.string()),
      /**
       * What the plan's price book bills, picodollars for a token; null where it does not know the model or the
       * role may not read cost.
       */
      price: z.strictObject({ input_picousd: count, output_picousd: count }).nullable(),
      retires_at: Instant.nullable(),
      successor: z.string().nullable(),
    }),
  ),
});
export type ModelsView = z.infer<typeof ModelsView>;
