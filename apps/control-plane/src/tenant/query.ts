import { z } from 'zod';
import { KeyId, Name, Outcome, RequestId, SeriesMetric, UsageBy } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';

/** Longest range of any question, and of the dear ones. */
export const MAX_RANGE_DAYS = 400;
export const MAX_HOURLY_DAYS = 31;
const DAY_MS = 86_400_000;

const Bound = z.iso
  .datetime({ error: 'must be an RFC 3339 instant in UTC, such as 2026-01-31T00:00:00.000Z' })
  .refine((text) => Date.parse(text) >= 0, 'must not be before 1970')
  .refine((text) => !/\.\d{4,}Z$/.test(text), 'must not be finer than milliseconds');
const label = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((text) => !text.includes('\0'), 'must not hold a NUL');
const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,6}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(min).max(max));

const span = { from: Bound.optional(), to: Bound.optional() };

export const UsageSearch = z.strictObject({
  ...span,
  step: z.enum(['hour', 'day']).optional(),
  by: UsageBy.default('model'),
});
export const SeriesSearch = z.strictObject({ ...span, metric: SeriesMetric, points: whole(10, 10_000).default(600) });
export const RequestQuery = z.strictObject({
  ...span,
  outcome: Outcome.optional(),
  model: Name.optional(),
  key: KeyId.optional(),
  feature: label(128).optional(),
  request_id: RequestId.optional(),
  limit: whole(1, 200).default(50),
  cursor: label(600).optional(),
});

/**
 * The range that a query means, epoch milliseconds; the last `defaultMs` when it names none.
 *
 * @throws ProblemError 400 for one that ends before it begins, or is longer than `maxDays`.
 */
export function rangeOf(
  { from, to }: { from?: string | undefined; to?: string | undefined },
  nowMs: number,
  defaultMs: number,
  maxDays: number,
): { fromMs: number; toMs: number } {
  const toMs = to === undefined ? Math.max(nowMs, from === undefined ? 0 : Date.parse(from) + 1) : Date.parse(to);
  const fromMs = from === undefined ? toMs - defaultMs : Date.parse(from);
  if (fromMs >= toMs) throw badRange('to', 'must be after from: from is inclusive, to is exclusive');
  if (toMs - fromMs > maxDays * DAY_MS) throw badRange('from', `must be at most ${maxDays} days before to`);
  return { fromMs, toMs };
}

const badRange = (path: string, message: string): ProblemError =>
  new ProblemError(400, 'The query is not valid', { errors: [{ path, message }] });
