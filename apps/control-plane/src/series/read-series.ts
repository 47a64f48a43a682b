import { sql } from 'drizzle-orm';
import type { SeriesMetric, SeriesView } from '@sluice/contracts';
import type { Db } from '../db/open-database.ts';
import { downsample, type Sample } from './downsample.ts';

const HOUR_MS = 3_600_000;
/** Up to here a second is a sample, then a minute, then an hour. */
const SECONDS_UP_TO_MS = 3 * HOUR_MS;
const MINUTES_UP_TO_MS = 72 * HOUR_MS;
const FAILED = `outcome in ('upstream_error', 'timeout', 'internal_error', 'interrupted', 'client_error')`;
const TOKENS =
  'tokens_input + tokens_cache_read + tokens_cache_write + tokens_output + tokens_reasoning + tokens_audio';

export interface SeriesRange {
  readonly workspace: string;
  readonly metric: SeriesMetric;
  readonly fromMs: number;
  readonly toMs: number;
  readonly points: number;
}

/** One figure of a workspace over time. Steps in which nothing was recorded are null. */
export async function readSeries(db: Db, range: SeriesRange): Promise<SeriesView> {
  const length = range.toMs - range.fromMs;
  const stepMs = length <= SECONDS_UP_TO_MS ? 1_000 : length <= MINUTES_UP_TO_MS ? 60_000 : HOUR_MS;
  const fromMs = Math.floor(range.fromMs / stepMs) * stepMs;
  const samples =
    range.metric === 'latency_ms'
      ? await latencySamples(db, range, fromMs)
      : await sumSamples(db, range, fromMs, stepMs);
  const kept = downsample(samples.list, range.points);
  return {
    metric: range.metric,
    from: new Date(fromMs).toISOString(),
    to: new Date(range.toMs).toISOString(),
    step_s: Math.max(1, Math.round(samples.stepMs / 1000)),
    samples: samples.measured,
    downsampled: kept.length < samples.measured,
    points: kept.map(({ atMs, value }) => ({ at: new Date(atMs).toISOString(), value })),
  };
}

interface Samples {
  readonly list: readonly Sample[];
  readonly stepMs: number;
  /** How many values were measured, before anything was left out. */
  readonly measured: number;
}

async function sumSamples(
  db: Db,
  { workspace, metric, toMs }: SeriesRange,
  fromMs: number,
  stepMs: number,
): Promise<Samples> {
  const hours = stepMs === HOUR_MS;
  const at = hours ? 'bucket' : 'occurred_at';
  const calls = hours ? 'calls' : "case kind when 'call' then 1 else 0 end";
  const value = {
    calls,
    tokens: TOKENS,
    billed_nanousd: 'billed_nanousd',
    failures: `case when ${FAILED} then ${calls} else 0 end`,
  }[metric as Exclude<SeriesMetric, 'latency_ms'>];
  const found = await db.execute<{ at: string; value: string }>(sql`
    select (floor(extract(epoch from ${sql.raw(at)}) * 1000 / ${stepMs}::bigint) * ${stepMs}::bigint)::text as at, sum(${sql.raw(value)})::text as value
    from ${sql.raw(hours ? 'rollup_hour' : 'ledger')}
    where workspace = ${workspace} and ${sql.raw(at)} >= ${new Date(fromMs).toISOString()}::timestamptz and ${sql.raw(at)} < ${new Date(toMs).toISOString()}::timestamptz
    group by 1 order by min(${sql.raw(at)})`);
  const measured = new Map(found.rows.map((row) => [Number(row.at), Number(row.value)]));
  const list: Sample[] = [];
  for (let ms = fromMs; ms < toMs; ms += stepMs) list.push({ atMs: ms, value: measured.get(ms) ?? null });
  return { list, stepMs, measured: measured.size };
}

/**
 * Every call is a sample, and there may be millions: the database keeps the smallest and the largest of each
 * bucket, at their own instants, so that the process never holds them all.
 */
async function latencySamples(db: Db, { workspace, toMs, points }: SeriesRange, fromMs: number): Promise<Samples> {
  const buckets = Math.max(1, Math.floor(points / 3));
  const widthMs = Math.max(1, Math.ceil((toMs - fromMs) / buckets));
  const found = await db.execute<{
    bucket: string;
    calls: string;
    low: number;
    low_at: string;
    high: number;
    high_at: string;
  }>(sql`
    with calls as (
      select floor((extract(epoch from occurred_at) * 1000 - ${fromMs}::bigint) / ${widthMs}::bigint) as bucket, total_ms, (extract(epoch from occurred_at) * 1000)::float8 as at
      from ledger where workspace = ${workspace} and kind = 'call' and occurred_at >= ${new Date(fromMs).toISOString()}::timestamptz
        and occurred_at < ${new Date(toMs).toISOString()}::timestamptz
    )
    select bucket::text, count(*)::text as calls, (min(array[total_ms, at]))[1] as low, floor((min(array[total_ms, at]))[2])::bigint::text as low_at,
      (max(array[total_ms, at]))[1] as high, floor((max(array[total_ms, at]))[2])::bigint::text as high_at
    from calls group by calls.bucket order by calls.bucket`);
  const byBucket = new Map(found.rows.map((row) => [Number(row.bucket), row]));
  const list: Sample[] = [];
  let measured = 0;
  for (let bucket = 0; bucket * widthMs + fromMs < toMs; bucket += 1) {
    const row = byBucket.get(bucket);
    if (row === undefined) {
      if (list.at(-1)?.value !== null) list.push({ atMs: fromMs + bucket * widthMs, value: null });
      continue;
    }
    measured += Number(row.calls);
    const ends = [
      { atMs: Number(row.low_at), value: row.low },
      ...(row.calls === '1' ? [] : [{ atMs: Number(row.high_at), value: row.high }]),
    ];
    list.push(...ends.toSorted((a, b) => a.atMs - b.atMs));
  }
  return { list, stepMs: widthMs, measured };
}
