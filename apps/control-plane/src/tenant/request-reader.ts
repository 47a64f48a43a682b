import { sql, type SQL } from 'drizzle-orm';
import type { LedgerRow, Outcome } from '@sluice/contracts';
import type { Db } from '../db/open-database.ts';
import { decodeCursor, encodeCursor, type LedgerPosition } from '../ledger/ledger-cursor.ts';
import { all, scopeConditions, timeConditions } from '../ledger/ledger-filters.ts';
import { readRows } from '../ledger/ledger-reader.ts';

export interface RequestSearch {
  readonly workspace: string;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly outcome?: Outcome | undefined;
  readonly model?: string | undefined;
  readonly key?: string | undefined;
  readonly feature?: string | undefined;
  readonly request_id?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** What gateways refused within one second for one reason. */
export interface RefusedGroup {
  readonly eventId: string;
  readonly at: string;
  readonly outcome: Outcome;
  readonly level: string | null;
  readonly subject: string;
  readonly count: number;
  readonly samples: readonly string[];
}

export type FoundRequest =
  { readonly kind: 'call'; readonly row: LedgerRow } | { readonly kind: 'refusals'; readonly group: RefusedGroup };

const PREFIX = 'refusals.';

/**
 * Calls of the ledger and refusals of the anomalies as one list, newest first. Refusals are not counted by model,
 * key or feature.
 */
export async function searchRequests(
  db: Db,
  search: RequestSearch,
): Promise<{ found: FoundRequest[]; next_cursor: string | null }> {
  const after = search.cursor === undefined ? undefined : decodeCursor(search.cursor);
  const limit = search.limit + 1;
  const [calls, refusals] = await Promise.all([
    findCalls(db, search, after, limit),
    findRefusals(db, search, after, limit),
  ]);
  const merged = [...calls, ...refusals].toSorted((a, b) => compare(b.position, a.position));
  const page = merged.slice(0, search.limit);
  const last = page.at(-1);
  return {
    found: page.map(({ request }) => request),
    next_cursor: merged.length > search.limit && last !== undefined ? encodeCursor(last.position) : null,
  };
}

interface Placed {
  readonly position: LedgerPosition;
  readonly request: FoundRequest;
}

/** The order of both tables: instant, then id byte by byte. */
function compare(a: LedgerPosition, b: LedgerPosition): number {
  if (a.at !== b.at) return a.at < b.at ? -1 : 1;
  return a.eventId === b.eventId ? 0 : a.eventId < b.eventId ? -1 : 1;
}

async function findCalls(
  db: Db,
  search: RequestSearch,
  after: LedgerPosition | undefined,
  limit: number,
): Promise<Placed[]> {
  const conditions = [
    ...scopeConditions(search),
    sql`kind = 'call'`,
    ...timeConditions('occurred_at', search.from, search.to),
  ];
  if (search.request_id !== undefined) conditions.push(sql`request_id = ${search.request_id}`);
  if (after !== undefined) conditions.push(sql`(occurred_at, event_id) < (${after.at}::timestamptz, ${after.eventId})`);
  const rows = await readRows(db, all(conditions), limit);
  return rows.map(({ row, at }) => ({ position: { at, eventId: row.event_id }, request: { kind: 'call', row } }));
}

async function findRefusals(
  db: Db,
  search: RequestSearch,
  after: LedgerPosition | undefined,
  limit: number,
): Promise<Placed[]> {
  if (search.model !== undefined || search.key !== undefined || search.feature !== undefined) return [];
  const type: SQL = search.outcome === undefined ? sql`type like 'refusals.%'` : sql`type = ${PREFIX + search.outcome}`;
  const conditions = [
    sql`workspace = ${search.workspace}`,
    type,
    ...timeConditions('occurred_at', search.from, search.to),
  ];
  if (search.request_id !== undefined) conditions.push(sql`samples @> ${JSON.stringify([search.request_id])}::jsonb`);
  if (after !== undefined) conditions.push(sql`(occurred_at, event_id) < (${after.at}::timestamptz, ${after.eventId})`);
  const found = await db.execute<{
    event_id: string;
    at: string;
    type: string;
    level: string | null;
    subject: string;
    count: number;
    samples: string[];
  }>(sql`
    select event_id, to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, type, level, subject, count, samples
    from anomalies where ${all(conditions)} order by anomalies.occurred_at desc, event_id desc limit ${limit}`);
  return found.rows.map((row) => ({
    position: { at: row.at, eventId: row.event_id },
    request: {
      kind: 'refusals',
      group: {
        eventId: row.event_id,
        at: row.at,
        outcome: row.type.slice(PREFIX.length) as Outcome,
        level: row.level,
        subject: row.subject,
        count: row.count,
        samples: row.samples,
      },
    },
  }));
}
