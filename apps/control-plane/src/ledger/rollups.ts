import { sql } from 'drizzle-orm';
import type { Clock, LedgerDifference } from '@sluice/contracts';
import type { Db } from '../db/open-database.ts';
import { addToRollup, ROLLUP_COLUMNS, ROLLUP_SOURCE, ROLLUP_SUMS, sumRows, type RollupStep } from './rollup-sql.ts';
import { asWriter } from './writer-lock.ts';

/** A range of instants: `from` inclusive, `to` exclusive. */
export interface Span {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const STEPS: readonly RollupStep[] = ['hour', 'day'];
/** Differences that are told at most. */
const MAX_TOLD = 100;
const DAY_MS = 86_400_000;

export interface Rollups {
  /**
   * Computes the rollups of every day that the span touches anew from the rows, day by day, each in a transaction
   * of its own: whoever reads meanwhile sees sums that are equal to the rows, and writers wait for one day at most.
   *
   * @returns how many days were made.
   */
  rebuild(span?: Span): Promise<number>;
  /**
   * Where rollups and rows differ within the days that the span touches; empty when they are equal. One snapshot of
   * the database.
   */
  check(span?: Span): Promise<LedgerDifference[]>;
}

export function createRollups({
  db,
  clock,
  onDay,
}: {
  db: Db;
  clock: Pick<Clock, 'monotonic'>;
  onDay?: ((durationMs: number) => void) | undefined;
}): Rollups {
  /** Start of the first day at or after the instant that has rows or rollups. */
  async function nextDay(from: string): Promise<number | undefined> {
    const found = await db.execute<{ at: Date | string | null }>(sql`
      select extract(epoch from date_trunc('day', least(
        (select min(occurred_at) from ledger where occurred_at >= ${from}::timestamptz),
        (select min(bucket) from rollup_hour where bucket >= ${from}::timestamptz),
        (select min(bucket) from rollup_day where bucket >= ${from}::timestamptz)) at time zone 'UTC') at time zone 'UTC')::text as at`);
    const at = found.rows[0]?.at;
    return at === null || at === undefined ? undefined : Number(at) * 1_000;
  }

  return {
    rebuild: async ({ from, to } = {}) => {
      const end = to === undefined ? Infinity : Date.parse(to);
      let days = 0;
      for (
        let at = await nextDay(dayOf(from ?? EARLIEST));
        at !== undefined && at < end;
        at = await nextDay(new Date(at + DAY_MS).toISOString())
      ) {
        const began = clock.monotonic();
        const day = { from: new Date(at).toISOString(), to: new Date(at + DAY_MS).toISOString() };
        await asWriter(db, async (tx) => {
          await tx.execute(sql`set local statement_timeout = 0`);
          for (const step of STEPS) {
            await tx.execute(
              sql`delete from ${sql.identifier(`rollup_${step}`)} where bucket >= ${day.from}::timestamptz and bucket < ${day.to}::timestamptz`,
            );
            await tx.execute(
              sql`${sql.raw(addToRollup(step, sumRows(step, `(select ${ROLLUP_SOURCE} from ledger where occurred_at >= '${day.from}' and occurred_at < '${day.to}') rows`)))}`,
            );
          }
        });
        days += 1;
        onDay?.(clock.monotonic() - began);
      }
      return days;
    },
    check: ({ from, to } = {}) =>
      db.transaction(
        async (tx) => {
          await tx.execute(sql`set local statement_timeout = 0`);
          const within = (column: string): string =>
            [
              from === undefined ? 'true' : `${column} >= '${dayOf(from)}'`,
              to === undefined ? 'true' : `${column} < '${dayAfter(to)}'`,
            ].join(' and ');
          const out: LedgerDifference[] = [];
          for (const step of STEPS) {
            const rows = sumRows(step, `(select ${ROLLUP_SOURCE} from ledger where ${within('occurred_at')}) rows`);
            const found = await tx.execute<Record<string, string>>(sql.raw(differences(step, rows, within('bucket'))));
            for (const row of found.rows) out.push(toDifference(step, row));
          }
          return out;
        },
        { isolationLevel: 'repeatable read', accessMode: 'read only' },
      ),
  };
}

const EARLIEST = '0001-01-01T00:00:00.000Z';

/** Start of the UTC day of an instant. */
function dayOf(instant: string): string {
  return `${new Date(Date.parse(instant)).toISOString().slice(0, 10)}T00:00:00.000Z`;
}

/** Start of the first day that begins at or after an exclusive end. */
function dayAfter(instant: string): string {
  return dayOf(new Date(Date.parse(instant) + DAY_MS - 1).toISOString());
}

/**
 * Keys whose sums differ; a key that only one side has counts as zeros on the other. A row of zeros is as good as
 * none.
 */
function differences(step: RollupStep, rows: string, within: string): string {
  const key = ROLLUP_COLUMNS.filter((name) => !ROLLUP_SUMS.includes(name)).join(', ');
  return `
    select to_char(bucket at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as at, ${key.replace('bucket, ', '')},
      ${ROLLUP_SUMS.map((name) => `coalesce(r.${name}, 0)::text as rows_${name}, coalesce(s.${name}, 0)::text as rollup_${name}`).join(', ')}
    from (${rows}) r full join (select ${ROLLUP_COLUMNS.join(', ')} from rollup_${step} where ${within}) s using (${key})
    where ${ROLLUP_SUMS.map((name) => `coalesce(r.${name}, 0) <> coalesce(s.${name}, 0)`).join(' or ')}
    order by 1, 2, 3 limit ${MAX_TOLD}`;
}

function toDifference(step: RollupStep, row: Record<string, string>): LedgerDifference {
  const sums = ROLLUP_SUMS.filter((name) => row[`rows_${name}`] !== row[`rollup_${name}`]);
  return {
    step,
    at: row['at'] ?? '',
    workspace: row['workspace'] ?? '',
    model: row['model'] ?? '',
    provider: row['provider'] ?? '',
    feature: row['feature'] ?? '',
    outcome: row['outcome'] ?? '',
    sums: Object.fromEntries(
      sums.map((name) => [name, { rows: row[`rows_${name}`] ?? '0', rollup: row[`rollup_${name}`] ?? '0' }]),
    ),
  };
}
