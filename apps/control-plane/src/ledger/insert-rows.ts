import { sql, type SQL } from 'drizzle-orm';
import type { Executor } from '../db/open-database.ts';
import { LEDGER_COLUMNS, type LedgerRecord } from './ledger-columns.ts';
import { addToRollup, ROLLUP_COLUMNS, ROLLUP_SOURCE, sumHours, sumRows } from './rollup-sql.ts';

/** Records as `ledgerRecord` makes them. */
export interface NewRow extends LedgerRecord {
  readonly event_id: string;
  readonly request_id: string;
  readonly occurred_at: string;
}

/**
 * How far before its first appearance an event may be held under another time; a clock that was set back by more
 * than that is not.
 */
const SAME_EVENT_MS = 35 * 86_400_000;

const NAMES = LEDGER_COLUMNS.map(({ name }) => name).join(', ');

/**
 * Adds the rows that are not held yet, and their sums to both rollups, in one statement. The caller holds the
 * writer lock.
 *
 * An event id is held once, whatever its time says: a call whose record the gateway's disk lost after it was
 * published is settled again as interrupted, with the same id at another time. The key of the table cannot tell,
 * this does.
 *
 * @returns the event ids that were added, and how many rows of the rollups were touched.
 */
export async function insertRows(
  tx: Executor,
  rows: readonly NewRow[],
): Promise<{ fresh: Set<string>; rollupRows: number }> {
  const unique = new Map<string, NewRow>();
  for (const row of rows) if (!unique.has(row.event_id)) unique.set(row.event_id, row);
  const earliest = rows.reduce((least, row) => Math.min(least, Date.parse(row.occurred_at), startOf(row)), Infinity);
  const since = new Date(Math.max(earliest - SAME_EVENT_MS, 0)).toISOString();
  const added = await tx.execute<{ ids: string[] | null; touched: string }>(sql`
    with fresh as (
      insert into ledger (${sql.raw(NAMES)})
      select ${sql.raw(NAMES)} from unnest(${asColumns([...unique.values()])}) as incoming(${sql.raw(NAMES)})
      where not exists (
        select from ledger held where held.request_id = incoming.request_id and held.event_id = incoming.event_id and held.occurred_at >= ${since}::timestamptz offset 0
      )
      on conflict do nothing returning event_id, ${sql.raw(ROLLUP_SOURCE)}
    ), summed as materialized (${sql.raw(sumRows('hour', 'fresh'))}),
    hours as (${sql.raw(addToRollup('hour', `select ${ROLLUP_COLUMNS.join(', ')} from summed`))} returning 1),
    days as (${sql.raw(addToRollup('day', sumHours('summed')))} returning 1)
    select (select array_agg(event_id) from fresh) as ids, (select count(*) from hours) + (select count(*) from days) as touched`);
  return { fresh: new Set(added.rows[0]?.ids ?? []), rollupRows: Number(added.rows[0]?.touched ?? 0) };
}

/** The rows as one array for each column: the server reads them in half the time that JSON takes it. */
function asColumns(rows: readonly NewRow[]): SQL {
  const arrays = LEDGER_COLUMNS.map(({ name, type }) => {
    const values = rows.map(
      (row) => (type === 'jsonb' ? JSON.stringify(row[name]) : storable(name, row[name])) ?? null,
    );
    return sql`${sql.param(values)}::${sql.raw(type)}[]`;
  });
  return sql.join(arrays, sql`, `);
}

/** What the server would refuse a value with (invalid character). */
class UnstorableText extends Error {
  readonly code = '22021';
}

/** The driver would put a replacement character for half of a surrogate pair, in silence; the server knows no NUL. */
function storable(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (!value.isWellFormed()) throw new UnstorableText(`${name} holds unsupported Unicode: half of a surrogate pair`);
  if (value.includes('\0')) throw new UnstorableText(`${name} holds unsupported Unicode: a NUL character`);
  return value;
}

const ULID_ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ULID_TIME = { from: 'req_'.length, to: 'req_'.length + 10 } as const;

/** When the call began, by its id; epoch milliseconds. */
function startOf({ request_id }: NewRow): number {
  let ms = 0;
  for (let i = ULID_TIME.from; i < ULID_TIME.to; i += 1) ms = ms * 32 + ULID_ALPHABET.indexOf(request_id.charAt(i));
  return ms;
}
