import { sql, type SQL } from 'drizzle-orm';
import { CallAttempt, LedgerRow, nanoUsdToDecimal, REFUSAL_OUTCOMES, TOKEN_CLASSES, zeroUsage, type Outcome } from '@sluice/contracts';
import type { LedgerRange, LedgerReader, UsagePoint } from '../api/ports.ts';
import type { Executor } from '../db/open-database.ts';
import { decodeCursor, encodeCursor } from './ledger-cursor.ts';
import { readWatermarks } from './watermarks.ts';

const TOKEN_SUMS = sql.raw(TOKEN_CLASSES.map((name) => `coalesce(sum(tokens_${name}), 0)::text as ${name}`).join(', '));
const REFUSALS = sql.raw(REFUSAL_OUTCOMES.map((name) => `'${name}'`).join(', '));

/** Reading side of the ledger; every figure comes from the database. */
export function createLedgerReader(deps: { db: Executor }): LedgerReader {
  const { db } = deps;
  return {
    rows: async (query) => {
      const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor);
      const conditions = rangeConditions(query);
      if (after !== undefined) conditions.push(sql`(occurred_at, event_id) < (${after.at}::timestamptz, ${after.eventId})`);
      // One more than asked for tells whether there is a next page.
      const found = await db.execute<Record<string, unknown>>(sql`
        select *, to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at from ledger
        where ${sql.join(conditions, sql` and `)} order by ledger.occurred_at desc, event_id desc limit ${query.limit + 1}`);
      const rows = found.rows.slice(0, query.limit);
      const last = rows.at(-1);
      const more = found.rows.length > query.limit && last !== undefined;
      return { rows: rows.map(toLedgerRow), next_cursor: more ? encodeCursor({ at: String(last['at']), eventId: String(last['event_id']) }) : null };
    },
    summary: async (range) => {
      const found = await db.execute<Record<string, string>>(sql`
        select outcome, count(*)::text as calls, coalesce(sum(jsonb_array_length(attempts)), 0)::text as attempts, ${TOKEN_SUMS},
          sum(cost_nanousd)::text as cost, sum(billed_nanousd)::text as billed
        from ledger where ${sql.join(rangeConditions(range), sql` and `)} and outcome not in (${REFUSALS}) group by outcome`);
      return summarise(found.rows);
    },
    usage: async ({ workspace, from, to, step }) => {
      const conditions = [sql`workspace = ${workspace}`];
      if (from !== undefined) conditions.push(sql`bucket >= ${from}::timestamptz`);
      if (to !== undefined) conditions.push(sql`bucket < ${to}::timestamptz`);
      const found = await db.execute<Record<string, string>>(sql`
        select to_char(bucket at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, nullif(model, '') as model, nullif(feature, '') as feature,
          sum(calls)::text as calls, sum(tokens_input + tokens_cache_read + tokens_cache_write)::text as input_tokens,
          sum(tokens_output + tokens_reasoning + tokens_audio)::text as output_tokens, sum(billed_nanousd)::text as billed
        from ${sql.raw(step === 'day' ? 'rollup_day' : 'rollup_hour')} where ${sql.join(conditions, sql` and `)} and outcome not in (${REFUSALS})
        group by bucket, model, feature order by bucket, model, feature`);
      return found.rows.map(
        (row): UsagePoint => ({
          at: String(row['at']),
          model: row['model'] ?? null,
          feature: row['feature'] ?? null,
          calls: Number(row['calls']),
          input_tokens: Number(row['input_tokens']),
          output_tokens: Number(row['output_tokens']),
          billed_nanousd: toSafe(BigInt(row['billed'] ?? '0')),
        }),
      );
    },
    watermarks: () => readWatermarks(db),
  };
}

function rangeConditions({ workspace, from, to }: LedgerRange): SQL[] {
  const out = [sql`true`];
  if (workspace !== undefined) out.push(sql`workspace = ${workspace}`);
  if (from !== undefined) out.push(sql`occurred_at >= ${from}::timestamptz`);
  if (to !== undefined) out.push(sql`occurred_at < ${to}::timestamptz`);
  return out;
}

/** Sums above 2^53 stop there as a number; the decimal strings beside them are always exact. */
function toSafe(value: bigint): number {
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);
}

function summarise(rows: readonly Record<string, string>[]) {
  const sum = (column: string): bigint => rows.reduce((total, row) => total + BigInt(row[column] ?? '0'), 0n);
  const tokens = zeroUsage();
  for (const name of TOKEN_CLASSES) tokens[name] = toSafe(sum(name));
  const outcomes: Partial<Record<Outcome, number>> = {};
  for (const row of rows) outcomes[row['outcome'] as Outcome] = Number(row['calls']);
  const [cost, billed] = [sum('cost'), sum('billed')];
  return {
    calls: toSafe(sum('calls')),
    attempts: toSafe(sum('attempts')),
    tokens,
    cost_nanousd: toSafe(cost),
    cost_usd: nanoUsdToDecimal(cost),
    billed_nanousd: toSafe(billed),
    billed_usd: nanoUsdToDecimal(billed),
    outcomes,
  };
}

function toLedgerRow(row: Record<string, unknown>): LedgerRow {
  const tokens = zeroUsage();
  for (const name of TOKEN_CLASSES) tokens[name] = Number(row[`tokens_${name}`]);
  return LedgerRow.parse({
    ...row,
    occurred_at: row['at'],
    epoch: Number(row['epoch']),
    sequence: Number(row['sequence']),
    tenant: row['tenant_id'],
    tokens,
    cost_nanousd: Number(row['cost_nanousd']),
    billed_nanousd: Number(row['billed_nanousd']),
    latency: { overhead_us: Number(row['overhead_us']), queue_ms: row['queue_ms'], ttfb_ms: row['ttfb_ms'], total_ms: row['total_ms'] },
    attempts: CallAttempt.array().parse(row['attempts']),
  });
}
