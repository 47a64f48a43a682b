import { sql, type SQL } from 'drizzle-orm';
import { REFUSAL_OUTCOMES, type UsageBy, type UsageSums } from '@sluice/contracts';
import type { Db } from '../db/open-database.ts';
import { all } from '../ledger/ledger-filters.ts';

/** Groups that are told at most; the rest is their difference to the totals. */
export const MAX_GROUPS = 500;

export interface UsageRange {
  readonly workspace: string;
  /** Epoch milliseconds, whole steps; `previousMs` is where the period before begins. */
  readonly previousMs: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly step: 'hour' | 'day';
  readonly by: UsageBy;
}

export interface UsageGroup {
  readonly key: string | null;
  readonly now: UsageSums & { billed_nanousd: number };
  readonly previous: UsageSums & { billed_nanousd: number };
}

export interface UsageGroups {
  /** Dearest first, at most `MAX_GROUPS`. */
  readonly groups: readonly UsageGroup[];
  readonly totals: UsageGroup;
}

const NOT_REFUSED = sql.raw(`outcome not in (${REFUSAL_OUTCOMES.map((name) => `'${name}'`).join(', ')})`);
const INPUT = 'tokens_input + tokens_cache_read + tokens_cache_write';
const OUTPUT = 'tokens_output + tokens_reasoning + tokens_audio';

/**
 * Sums of a workspace's period and of the one before, by one property of its calls. End users are not in the
 * rollups: their sums read rows.
 */
export async function readUsageGroups(db: Db, range: UsageRange): Promise<UsageGroups> {
  const rows = range.by === 'end_user';
  const time = sql.raw(rows ? 'occurred_at' : 'bucket');
  const from = sql.raw(rows ? 'ledger' : range.step === 'day' ? 'rollup_day' : 'rollup_hour');
  const calls = sql.raw(rows ? "case kind when 'call' then 1 else 0 end" : 'calls');
  const at = (ms: number): SQL => sql`${new Date(ms).toISOString()}::timestamptz`;
  const where = all([
    sql`workspace = ${range.workspace}`,
    sql`${time} >= ${at(range.previousMs)}`,
    sql`${time} < ${at(range.toMs)}`,
    NOT_REFUSED,
  ]);
  const sums = (name: string, when: SQL): SQL =>
    sql`coalesce(sum(${calls}) filter (where ${when}), 0)::text as ${sql.raw(`${name}_calls`)},
      coalesce(sum(${sql.raw(INPUT)}) filter (where ${when}), 0)::text as ${sql.raw(`${name}_input`)},
      coalesce(sum(${sql.raw(OUTPUT)}) filter (where ${when}), 0)::text as ${sql.raw(`${name}_output`)},
      coalesce(sum(billed_nanousd) filter (where ${when}), 0)::text as ${sql.raw(`${name}_billed`)}`;
  const found = await db.execute<Record<string, string | null>>(sql`
    select grouping(k)::text as total, k as key, ${sums('now', sql`at >= ${at(range.fromMs)}`)}, ${sums('previous', sql`at < ${at(range.fromMs)}`)}
    from (select ${keyOf(range.by)} as k, ${time} as at, * from ${from} where ${where}) rows
    group by grouping sets ((k), ())
    order by grouping(k) desc, sum(billed_nanousd) filter (where at >= ${at(range.fromMs)}) desc nulls last, sum(${calls}) desc, k
    limit ${MAX_GROUPS + 1}`);
  const groups = found.rows.filter((row) => row['total'] === '0').map(toGroup);
  return { groups, totals: toGroup(found.rows.find((row) => row['total'] === '1') ?? {}) };
}

function keyOf(by: UsageBy): SQL {
  switch (by) {
    case 'model':
      return sql.raw("nullif(model, '')");
    case 'feature':
      return sql.raw("nullif(feature, '')");
    case 'key':
      return sql.raw('key_id');
    case 'end_user':
      return sql.raw('end_user');
    case 'day':
      return sql.raw(`to_char(bucket at time zone 'UTC', 'YYYY-MM-DD')`);
  }
}

function toGroup(row: Record<string, string | null>): UsageGroup {
  const of = (name: string) => ({
    calls: Number(row[`${name}_calls`] ?? 0),
    input_tokens: Number(row[`${name}_input`] ?? 0),
    output_tokens: Number(row[`${name}_output`] ?? 0),
    // A correction may be booked in another period than its call.
    billed_nanousd: Math.max(0, Number(row[`${name}_billed`] ?? 0)),
  });
  return { key: row['key'] ?? null, now: of('now'), previous: of('previous') };
}
