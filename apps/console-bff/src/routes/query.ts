import { Instant, KeyId, Name, Outcome, RequestId, SeriesMetric, UsageBy } from '@sluice/contracts';
import { z } from 'zod';

const digits = (min: number, max: number): z.ZodType<string> =>
  z
    .string()
    .refine(
      (text) => /^\d{1,5}$/.test(text) && Number(text) >= min && Number(text) <= max,
      `must be a whole number from ${min} to ${max}`,
    );
const label = z
  .string()
  .min(1)
  .max(128)
  .refine((text) => !text.includes('\0'), 'must not hold a NUL');
const cursor = z.string().min(1).max(600);
const range = { from: Instant, to: Instant };

/**
 * Parameters that may be left out; one that is sent twice, or that nobody knows, is a 400. `workspace` is read by
 * the scope.
 */
function parameters(shape: Record<string, z.ZodType<string>>): z.ZodType<Record<string, string>> {
  return z
    .strictObject({ ...shape, workspace: z.string() })
    .partial()
    .transform(
      (given) =>
        Object.fromEntries(
          Object.entries(given).filter(([name, value]) => name !== 'workspace' && value !== undefined),
        ) as Record<string, string>,
    );
}

export const NoQuery = parameters({});
export const UsageQuery = parameters({
  ...range,
  step: z.enum(['hour', 'day']),
  by: UsageBy,
  format: z.enum(['json', 'csv']),
});
export const SeriesQuery = parameters({ ...range, metric: SeriesMetric, points: digits(10, 10_000) });
export const RequestsQuery = parameters({
  ...range,
  outcome: Outcome,
  model: Name,
  key: KeyId,
  feature: label,
  request_id: RequestId,
  limit: digits(1, 200),
  cursor,
});
export const AlertsQuery = parameters({ limit: digits(1, 200), cursor });
export const StatementQuery = parameters({
  month: z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be a month such as 2026-03'),
  format: z.enum(['json', 'csv']),
});
