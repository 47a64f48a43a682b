import { sql, type SQL } from 'drizzle-orm';
import {
  AuditedUse,
  CorrectionCounts,
  type AuditSpan,
  type CountedRuns,
  type QuotaAuditRequest,
  type QuotaAuditResponse,
} from '@sluice/contracts';
import type { Executor } from '../db/open-database.ts';
import { all } from './ledger-filters.ts';
import { readWatermarks } from './watermarks.ts';

type AuditedLevel = QuotaAuditRequest['levels'][number];

const DAY_MS = 86_400_000;
/** The longest quota window is 40 days. */
const CORRECTIONS_MS = 45 * DAY_MS;

const SUMS = sql.raw(`sum(tokens_input + tokens_cache_read + tokens_cache_write)::text as input,
  sum(tokens_output + tokens_reasoning + tokens_audio)::text as output, sum(billed_nanousd)::text as billed`);

/**
 * Sums the ledger for the levels of a gateway, from the rows themselves: exactly the calls that their counters are said
 * to hold, and every correction. Which periods there are is the gateway's to say; no clock of the database is asked.
 */
export async function readQuotaAudit(db: Executor, { levels }: QuotaAuditRequest): Promise<QuotaAuditResponse> {
  // Before the sums: the ledger only grows, so these hold at least what the watermarks promise.
  const marks = new Map(
    (await readWatermarks(db)).map(({ gateway_id, epoch, sequence }) => [`${gateway_id} ${epoch}`, sequence]),
  );
  const holds = (gateway: string, epoch: number, sequence: number): boolean =>
    (marks.get(`${gateway} ${epoch}`) ?? 0) >= sequence;
  const answers: QuotaAuditResponse['levels'] = [];
  for (const level of levels) {
    const spans: AuditedUse[][] = [];
    for (const span of level.spans) spans.push(await sumSpan(db, level, span));
    answers.push({ held: level.counted.every((counted) => isHeld(counted, holds)), spans });
  }
  return { levels: answers };
}

function isHeld(
  { gateway_id, epoch, runs, earlier }: CountedRuns,
  holds: (gateway: string, epoch: number, sequence: number) => boolean,
): boolean {
  const last = runs.at(-1)?.[1] ?? 0;
  return (
    (last === 0 || holds(gateway_id, epoch, last)) && earlier.every((one) => holds(gateway_id, one.epoch, one.last))
  );
}

async function sumSpan(db: Executor, level: AuditedLevel, span: AuditSpan): Promise<AuditedUse[]> {
  const { from_ms, step_ms } = span;
  const atOf = (column: SQL): SQL =>
    step_ms === undefined
      ? sql`${from_ms}::bigint`
      : sql`(floor(extract(epoch from ${column}) * 1000 / ${step_ms}::bigint) * ${step_ms}::bigint)::bigint`;
  const calls = sql`
    select ${atOf(sql`occurred_at`)} as at, ${SUMS} from ledger
    where ${all([sql`kind = 'call'`, ...ownedBy(level), ...within(sql`occurred_at`, span)])} and not exists (
      select from jsonb_to_recordset(${JSON.stringify(level.counted)}::jsonb) as c(gateway_id text, epoch bigint, runs jsonb)
      where c.gateway_id = ledger.gateway_id and (c.epoch < ledger.epoch or (c.epoch = ledger.epoch and not exists (
        select from jsonb_array_elements(c.runs) as r where ledger.sequence between (r->>0)::bigint and (r->>1)::bigint))))
    group by 1`;
  const corrected = sql`(select min(c.occurred_at) from ledger c where c.request_id = ledger.request_id and c.kind = 'call')`;
  const bookedAt = step_ms === undefined ? sql`occurred_at` : corrected;
  const corrections = sql`
    select ${atOf(bookedAt)} as at, ${SUMS} from ledger
    where ${all([sql`kind = 'correction'`, ...ownedBy(level), ...within(sql`occurred_at`, { from_ms }), ...within(bookedAt, span)])}
    group by 1`;
  const found = await db.execute<Record<string, string>>(sql`
    select at::text as at, sum(input::numeric)::text as input, sum(output::numeric)::text as output, sum(billed::numeric)::text as billed
    from (${calls} union all ${corrections}) parts group by 1`);
  // A sum that is no exact number of JavaScript fails here: a quota must not be counted wrongly.
  return found.rows.map((row) =>
    AuditedUse.parse({
      at_ms: Number(row['at']),
      input_tokens: Number(row['input']),
      output_tokens: Number(row['output']),
      billed_nanousd: Number(row['billed']),
    }),
  );
}

/** The tenant's workspaces by name lead to the index of the ledger. */
function ownedBy({ tenant_id, level, id }: AuditedLevel): SQL[] {
  const ofTenant = [
    sql`tenant_id = ${tenant_id}`,
    sql`workspace in (select distinct workspace from rollup_day where tenant_id = ${tenant_id})`,
  ];
  if (level === 'workspace') ofTenant.push(sql`workspace_id = ${id}`);
  if (level === 'key') ofTenant.push(sql`key_id = ${id}`);
  return ofTenant;
}

function within(column: SQL, { from_ms, to_ms }: Pick<AuditSpan, 'from_ms' | 'to_ms'>): SQL[] {
  const instant = (ms: number): SQL => sql`to_timestamp(${ms}::bigint / 1000.0)`;
  const conditions = [sql`${column} >= ${instant(from_ms)}`];
  if (to_ms !== undefined) conditions.push(sql`${column} < ${instant(to_ms)}`);
  return conditions;
}

/** How many corrections each key has had lately: where the figure changes, counters have to be compared anew. */
export async function readCorrectionCounts(db: Executor, nowMs: number): Promise<CorrectionCounts> {
  const found = await db.execute<Record<string, string>>(sql`
    select tenant_id, workspace_id, key_id, count(*)::text as corrections from ledger
    where kind = 'correction' and occurred_at >= to_timestamp(${nowMs - CORRECTIONS_MS}::bigint / 1000.0)
    group by 1, 2, 3 order by 1, 2, 3`);
  return CorrectionCounts.parse({
    keys: found.rows.map((row) => ({ ...row, corrections: Number(row['corrections']) })),
  });
}
