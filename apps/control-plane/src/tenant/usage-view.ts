import type { ApiKeyRecord, UsageSums, UsageView } from '@sluice/contracts';
import type { LedgerReader } from '../api/ports.ts';
import { MAX_HOURLY_DAYS, MAX_RANGE_DAYS, rangeOf } from './query.ts';
import type { UsageGroup, UsageGroups, UsageRange } from './usage-reader.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Up to here usage is shown by the hour, unless told otherwise. */
const HOURLY_UP_TO_MS = 3 * DAY_MS;

export interface UsageQuestion {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly step?: 'hour' | 'day' | undefined;
  readonly by: UsageView['by'];
}

export interface UsageSources {
  readonly usage: LedgerReader['usage'];
  readonly groups: (range: UsageRange) => Promise<UsageGroups>;
  /** Keys of the workspace, by id. */
  readonly keyName: (keyId: string) => ApiKeyRecord['name'] | undefined;
}

/**
 * Usage of a workspace with the period of the same length before. The range is widened to whole steps, which the
 * answer states.
 *
 * @throws ProblemError 400 for a range that is absurd or too long for its step.
 */
export async function usageView(
  workspace: string,
  question: UsageQuestion,
  sources: UsageSources,
  nowMs: number,
  cost: boolean,
): Promise<UsageView> {
  const asked = rangeOf(question, nowMs, 30 * DAY_MS, MAX_RANGE_DAYS);
  const step =
    question.step ?? (asked.toMs - asked.fromMs <= HOURLY_UP_TO_MS && question.by !== 'day' ? 'hour' : 'day');
  if (step === 'hour' || question.by === 'end_user') rangeOf(question, nowMs, 30 * DAY_MS, MAX_HOURLY_DAYS);
  const stepMs = step === 'hour' ? HOUR_MS : DAY_MS;
  const fromMs = Math.floor(asked.fromMs / stepMs) * stepMs;
  const toMs = Math.ceil(asked.toMs / stepMs) * stepMs;
  const previousMs = Math.max(0, fromMs - (toMs - fromMs));
  const instant = (ms: number): string => new Date(ms).toISOString();
  const [points, { groups, totals }] = await Promise.all([
    sources.usage({ workspace, from: instant(fromMs), to: instant(toMs), step }),
    sources.groups({ workspace, previousMs, fromMs, toMs, step, by: question.by }),
  ]);
  const shown = (sums: UsageGroup['now']): UsageSums => ({
    ...sums,
    billed_nanousd: cost ? sums.billed_nanousd : null,
  });
  // By day the days of the period before are other days: they have no row here, and none to be compared with.
  const told =
    question.by === 'day'
      ? groups
          .filter(({ now }) => now.calls > 0 || now.billed_nanousd > 0)
          .toSorted((a, b) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1))
      : groups;
  const rows: UsageView['groups'] = told.map(({ key, now, previous }) => ({
    key,
    name: question.by === 'key' && key !== null ? (sources.keyName(key) ?? null) : null,
    rest: false,
    ...shown(now),
    previous: question.by === 'day' ? null : shown(previous),
  }));
  const rest = {
    now: minus(
      totals.now,
      groups.map(({ now }) => now),
    ),
    previous: minus(
      totals.previous,
      groups.map(({ previous }) => previous),
    ),
  };
  if (rest.now.calls > 0)
    rows.push({ key: null, name: null, rest: true, ...shown(rest.now), previous: shown(rest.previous) });
  return {
    from: instant(fromMs),
    to: instant(toMs),
    step,
    by: question.by,
    points: points.map((point) => ({ ...point, billed_nanousd: cost ? Math.max(0, point.billed_nanousd) : null })),
    groups: rows,
    totals: shown(totals.now),
    previous: { from: instant(previousMs), to: instant(fromMs), ...shown(totals.previous) },
  };
}

function minus(total: UsageGroup['now'], parts: readonly UsageGroup['now'][]): UsageGroup['now'] {
  const left = { ...total };
  for (const part of parts) {
    left.calls -= part.calls;
    left.input_tokens -= part.input_tokens;
    left.output_tokens -= part.output_tokens;
    left.billed_nanousd -= part.billed_nanousd;
  }
  return {
    calls: Math.max(0, left.calls),
    input_tokens: Math.max(0, left.input_tokens),
    output_tokens: Math.max(0, left.output_tokens),
    billed_nanousd: Math.max(0, left.billed_nanousd),
  };
}
