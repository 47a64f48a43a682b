/** A stretch of time to look at, with the step of its points. */
export interface Range {
  readonly from: string;
  readonly to: string;
  readonly step: 'hour' | 'day';
}

export const RANGES = [
  { id: '24h', title: '24 hours' },
  { id: '7d', title: '7 days' },
  { id: '30d', title: '30 days' },
  { id: '90d', title: '90 days' },
] as const;
export type RangeId = (typeof RANGES)[number]['id'];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS: Readonly<Record<RangeId, number>> = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 };
const MOST_DAYS = 400;

/** A preset that ends with the current hour or, from a week on, with the current day of UTC. */
export function presetRange(id: RangeId, nowMs: number): Range {
  const unitMs = id === '24h' ? HOUR_MS : DAY_MS;
  const toMs = (Math.floor(nowMs / unitMs) + 1) * unitMs;
  return { from: instant(toMs - DAYS[id] * DAY_MS), to: instant(toMs), step: id === '24h' ? 'hour' : 'day' };
}

/**
 * The range of two days as a date field gives them (`2026-03-01`), both included, in UTC.
 *
 * @returns a sentence when there is no such range.
 */
export function customRange(first: string, last: string): Range | string {
  const fromMs = Date.parse(`${first}T00:00:00.000Z`);
  const toMs = Date.parse(`${last}T00:00:00.000Z`) + DAY_MS;
  if (Number.isNaN(fromMs) || Number.isNaN(toMs)) return 'Give both days.';
  if (toMs <= fromMs) return 'The last day must not be before the first.';
  if (toMs - fromMs > MOST_DAYS * DAY_MS) return `At most ${MOST_DAYS} days can be shown at once.`;
  return { from: instant(fromMs), to: instant(toMs), step: toMs - fromMs <= 2 * DAY_MS ? 'hour' : 'day' };
}

/** Starts of all steps, so that times without calls are shown as such. */
export function stepsOf({ from, to, step }: Range): string[] {
  const stepMs = step === 'hour' ? HOUR_MS : DAY_MS;
  const fromMs = Date.parse(from);
  return Array.from({ length: Math.ceil((Date.parse(to) - fromMs) / stepMs) }, (_, index) =>
    instant(fromMs + index * stepMs),
  );
}

const instant = (ms: number): string => new Date(ms).toISOString();
