import { sql } from 'drizzle-orm';
import { REFUSAL_OUTCOMES, TOKEN_CLASSES, type QuotaMeter } from '@sluice/contracts';
import type { Db } from '../db/open-database.ts';
import { all, scopeConditions, timeConditions } from '../ledger/ledger-filters.ts';
import { summaryPieces } from '../ledger/summary-pieces.ts';

/** Calls that the latency of the overview is made of, at most. */
const NEWEST_CALLS = 500;
const NOT_REFUSED = sql.raw(`outcome not in (${REFUSAL_OUTCOMES.map((name) => `'${name}'`).join(', ')})`);
const TOKENS = TOKEN_CLASSES.map((name) => `tokens_${name}`).join(' + ');
const INPUT = 'tokens_input + tokens_cache_read + tokens_cache_write';
const OUTPUT = 'tokens_output + tokens_reasoning + tokens_audio';

/** What a quota window counts, as the ledger holds it. */
export type MeterSums = Readonly<Record<QuotaMeter, number>>;

/** Sums of every meter in [fromMs, toMs), from rollups where whole hours and days allow it. */
export async function readMeters(
  db: Db,
  scope: { tenant?: string; workspace?: string },
  fromMs: number,
  toMs: number,
): Promise<MeterSums> {
  const pieces = summaryPieces(fromMs, toMs);
  if (pieces.length === 0) return { input_tokens: 0, output_tokens: 0, total_tokens: 0, cost_nanousd: 0 };
  const parts = pieces.map(({ from, start, end }) => {
    const time = timeConditions(
      from === 'ledger' ? 'occurred_at' : 'bucket',
      new Date(start).toISOString(),
      new Date(end).toISOString(),
    );
    return sql`select ${sql.raw(INPUT)} as input, ${sql.raw(OUTPUT)} as output, ${sql.raw(TOKENS)} as total, billed_nanousd from ${sql.identifier(from)}
      where ${all([...scopeConditions(scope), ...time, NOT_REFUSED])}`;
  });
  const found = await db.execute<{ input: string; output: string; total: string; billed: string }>(sql`
    select coalesce(sum(input), 0)::text as input, coalesce(sum(output), 0)::text as output, coalesce(sum(total), 0)::text as total,
      coalesce(sum(billed_nanousd), 0)::text as billed from (${sql.join(parts, sql` union all `)}) pieces`);
  const row = found.rows[0];
  const of = (text: string | undefined): number => Math.max(0, Number(text ?? 0));
  return {
    input_tokens: of(row?.input),
    output_tokens: of(row?.output),
    total_tokens: of(row?.total),
    cost_nanousd: of(row?.billed),
  };
}

export interface Latency {
  readonly calls: number;
  readonly p50_ms: number;
  readonly p95_ms: number;
  readonly p99_ms: number;
}

/** Percentiles of the newest calls since an instant, at most 500 of them; null without any. */
export async function readLatency(db: Db, workspace: string, fromMs: number): Promise<Latency | null> {
  const found = await db.execute<{ calls: string; p: number[] | null }>(sql`
    select count(*)::text as calls, percentile_cont(array[0.5, 0.95, 0.99]) within group (order by total_ms) as p
    from (select total_ms from ledger where workspace = ${workspace} and occurred_at >= ${new Date(fromMs).toISOString()}::timestamptz and kind = 'call' and ${NOT_REFUSED}
      order by occurred_at desc, event_id desc limit ${NEWEST_CALLS}) newest`);
  const [p50, p95, p99] = found.rows[0]?.p ?? [];
  return p50 === undefined || p95 === undefined || p99 === undefined
    ? null
    : { calls: Number(found.rows[0]?.calls), p50_ms: p50, p95_ms: p95, p99_ms: p99 };
}
