import { desc, getTableColumns, sql, type SQL } from 'drizzle-orm';
import {
  LedgerRow,
  nanoUsdToDecimal,
  REFUSAL_OUTCOMES,
  TOKEN_CLASSES,
  zeroUsage,
  type Outcome,
} from '@sluice/contracts';
import type { LedgerReader, LedgerScope, UsagePoint } from '../api/ports.ts';
import type { Db } from '../db/open-database.ts';
import { ledgerTable } from '../db/schema.ts';
import { decodeCursor, encodeCursor } from './ledger-cursor.ts';
import { all, scopeConditions, timeConditions } from './ledger-filters.ts';
import { summaryPieces, type SummaryPiece } from './summary-pieces.ts';
import { readCorrectionCounts, readQuotaAudit } from './quota-audit.ts';
import { readQuotaUse } from './quota-use.ts';
import { readWatermarks } from './watermarks.ts';

const SUMS = ['calls', 'attempts', ...TOKEN_CLASSES.map((name) => `tokens_${name}`), 'cost_nanousd', 'billed_nanousd'];
const FROM_ROLLUP = sql.raw(SUMS.join(', '));
const FROM_ROWS = sql.raw(
  `case kind when 'call' then 1 else 0 end as calls, jsonb_array_length(attempts) as attempts, ${SUMS.slice(2).join(', ')}`,
);
const TOTALS = sql.raw(SUMS.map((name) => `coalesce(sum(${name}), 0)::text as ${name}`).join(', '));
const NOT_REFUSED = sql.raw(`outcome not in (${REFUSAL_OUTCOMES.map((name) => `'${name}'`).join(', ')})`);

/** Reading side of the ledger; every figure comes from the database. */
export function createLedgerReader(deps: { db: Db }): LedgerReader {
  const { db } = deps;
  return {
    rows: async (query) => {
      const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor);
      const conditions = [...scopeConditions(query), ...timeConditions('occurred_at', query.from, query.to)];
      if (query.kind !== undefined) conditions.push(sql`kind = ${query.kind}`);
      if (query.request_id !== undefined) conditions.push(sql`request_id = ${query.request_id}`);
      if (after !== undefined)
        conditions.push(sql`(occurred_at, event_id) < (${after.at}::timestamptz, ${after.eventId})`);
      // One more than asked for tells whether there is a next page.
      const found = await readRows(db, all(conditions), query.limit + 1);
      const page = found.slice(0, query.limit);
      const last = page.at(-1);
      const more = found.length > query.limit && last !== undefined;
      return {
        rows: page.map(({ row }) => row),
        next_cursor: more ? encodeCursor({ at: last.at, eventId: last.row.event_id }) : null,
      };
    },
    summary: async (range) => {
      const pieces = summaryPieces(
        range.from === undefined ? -Infinity : Date.parse(range.from),
        range.to === undefined ? Infinity : Date.parse(range.to),
      );
      if (pieces.length === 0) return summarise([]);
      const parts = pieces.map((piece) => pieceRows(piece, range));
      const found = await db.execute<Record<string, string>>(
        sql`select outcome, ${TOTALS} from (${sql.join(parts, sql` union all `)}) pieces group by outcome`,
      );
      return summarise(found.rows);
    },
    usage: async ({ tenant, workspace, from, to, step, by }) => {
      const conditions = [
        ...scopeConditions({ tenant, workspace }),
        ...timeConditions('bucket', from, to),
        NOT_REFUSED,
      ];
      const feature = sql.raw(by === 'model' ? 'null::text' : "nullif(feature, '')");
      const found = await db.execute<Record<string, string>>(sql`
        select to_char(bucket at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, nullif(model, '') as model, ${feature} as feature,
          sum(calls)::text as calls, sum(tokens_input + tokens_cache_read + tokens_cache_write)::text as input_tokens,
          sum(tokens_output + tokens_reasoning + tokens_audio)::text as output_tokens, sum(billed_nanousd)::text as billed
        from ${sql.raw(step === 'day' ? 'rollup_day' : 'rollup_hour')} where ${all(conditions)}
        group by 1, 2, 3 order by 1, 2, 3`);
      return found.rows.map((row): UsagePoint => ({
        at: String(row['at']),
        model: row['model'] ?? null,
        feature: row['feature'] ?? null,
        calls: Number(row['calls']),
        input_tokens: Number(row['input_tokens']),
        output_tokens: Number(row['output_tokens']),
        billed_nanousd: toSafe(BigInt(row['billed'] ?? '0')),
      }));
    },
    watermarks: () => readWatermarks(db),
    quotaUse: (request) => readQuotaUse(db, request),
    quotaAudit: (request) => readQuotaAudit(db, request),
    corrections: (nowMs) => readCorrectionCounts(db, nowMs),
  };
}

/** Rows that meet a condition, newest first, each with its instant in microseconds, as the database compares it. */
export async function readRows(
  db: Db,
  condition: SQL,
  limit: number,
): Promise<{ readonly row: LedgerRow; readonly at: string }[]> {
  const at = sql<string>`to_char(${ledgerTable.occurred_at} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
  const found = await db
    .select({ ...getTableColumns(ledgerTable), at })
    .from(ledgerTable)
    .where(condition)
    .orderBy(desc(ledgerTable.occurred_at), desc(ledgerTable.event_id))
    .limit(limit);
  return found.map((row) => ({ row: toLedgerRow(row), at: row.at }));
}

function pieceRows({ from, start, end }: SummaryPiece, range: LedgerScope): SQL {
  const time = timeConditions(from === 'ledger' ? 'occurred_at' : 'bucket', instant(start), instant(end));
  const conditions = all([...scopeConditions(range), ...time, NOT_REFUSED]);
  return sql`select outcome, ${from === 'ledger' ? FROM_ROWS : FROM_ROLLUP} from ${sql.identifier(from)} where ${conditions}`;
}

const instant = (ms: number): string | undefined => (Number.isFinite(ms) ? new Date(ms).toISOString() : undefined);

/** Sums above 2^53 stop there as a number; the decimal strings beside them are always exact. */
function toSafe(value: bigint): number {
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);
}

function summarise(rows: readonly Record<string, string>[]) {
  const sum = (column: string): bigint => rows.reduce((total, row) => total + BigInt(row[column] ?? '0'), 0n);
  const tokens = zeroUsage();
  for (const name of TOKEN_CLASSES) tokens[name] = toSafe(sum(`tokens_${name}`));
  const outcomes: Partial<Record<Outcome, number>> = {};
  // Where only corrections were booked under an outcome there is no call of it.
  for (const row of rows) if (row['calls'] !== '0') outcomes[row['outcome'] as Outcome] = Number(row['calls']);
  const [cost, billed] = [sum('cost_nanousd'), sum('billed_nanousd')];
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

function toLedgerRow(row: typeof ledgerTable.$inferSelect & { at: string }): LedgerRow {
  const tokens = zeroUsage();
  for (const name of TOKEN_CLASSES) tokens[name] = row[`tokens_${name}`];
  return LedgerRow.parse({
    ...row,
    occurred_at: row.at,
    tenant: row.tenant_id,
    tokens,
    latency: { overhead_us: row.overhead_us, queue_ms: row.queue_ms, ttfb_ms: row.ttfb_ms, total_ms: row.total_ms },
  });
}
