import { sql } from 'drizzle-orm';
import type { CallSettled, Clock } from '@sluice/contracts';
import type { LedgerReader } from '../api/ports.ts';
import type { Db, Executor } from '../db/open-database.ts';
import type { Watermark } from '../stream/config-stream.ts';
import { createLedgerReader } from './ledger-reader.ts';
import { LEDGER_COLUMNS, ledgerRecord } from './ledger-columns.ts';
import { addToRollup } from './rollups.ts';
import { advanceWatermarks } from './watermarks.ts';

export interface InsertResult {
  readonly inserted: number;
  readonly duplicates: number;
  /** Where the ledger stands now for every gateway and epoch of the batch. */
  readonly watermarks: readonly Watermark[];
}

export interface Ledger extends LedgerReader {
  /**
   * Records events, rollups and positions in one transaction. An event that is held already changes nothing, so a batch
   * may be sent any number of times and in any order.
   */
  insertBatch(events: readonly CallSettled[]): Promise<InsertResult>;
  /** Computes the rollups anew from the rows; readers see the old ones until it is done. */
  rebuildRollups(): Promise<void>;
  /** Rows held and the newest of them, for the live picture. */
  head(): Promise<{ rows: number; last_settled_at: string | null }>;
}

/** Writers take turns: it rules out deadlocks between batches, and a rebuild sees no half batch. */
const WRITER_LOCK = 7_110_002;
/** Rows further from now than this share the default partition, so that a wrong clock cannot make thousands. */
const PARTITION_WINDOW_MS = 2 * 366 * 86_400_000;

const COLUMNS = Object.keys(LEDGER_COLUMNS).join(', ');
const DEFINITION = Object.entries(LEDGER_COLUMNS).map(([name, type]) => `${name} ${type}`).join(', ');

/** The record of every settled call, in PostgreSQL. Money is whole nanodollars throughout. */
export function createLedger(deps: { db: Db; clock: Pick<Clock, 'now'> }): Ledger {
  const { db, clock } = deps;
  /** Months whose partition is known to be committed. */
  const partitions = new Set<string>();

  async function ensurePartitions(tx: Executor, events: readonly CallSettled[]): Promise<string[]> {
    const months = new Set<string>();
    for (const { occurred_at } of events) {
      const month = occurred_at.slice(0, 7);
      if (partitions.has(month) || Math.abs(Date.parse(occurred_at) - clock.now()) > PARTITION_WINDOW_MS) continue;
      months.add(month);
    }
    for (const month of months) await tx.execute(sql`select ledger_partition(${`${month}-01T00:00:00Z`}::timestamptz)`);
    return [...months];
  }

  return {
    ...createLedgerReader({ db }),
    insertBatch: async (events) => {
      if (events.length === 0) return { inserted: 0, duplicates: 0, watermarks: [] };
      const result = await db.transaction(async (tx) => {
        await tx.execute(sql`select pg_advisory_xact_lock(${WRITER_LOCK})`);
        const made = await ensurePartitions(tx, events);
        const records = JSON.stringify(events.map(ledgerRecord));
        const added = await tx.execute<{ inserted: string }>(sql`
          with fresh as (
            insert into ledger (${sql.raw(COLUMNS)})
            select ${sql.raw(COLUMNS)} from jsonb_to_recordset(${records}::jsonb) as incoming(${sql.raw(DEFINITION)})
            on conflict do nothing returning *
          ), hours as (${sql.raw(addToRollup('hour', 'fresh'))}), days as (${sql.raw(addToRollup('day', 'fresh'))})
          select count(*) as inserted from fresh`);
        const watermarks = await advanceWatermarks(tx, events);
        return { made, inserted: Number(added.rows[0]?.inserted ?? 0), watermarks };
      });
      for (const month of result.made) partitions.add(month);
      return { inserted: result.inserted, duplicates: events.length - result.inserted, watermarks: result.watermarks };
    },
    rebuildRollups: () =>
      db.transaction(async (tx) => {
        await tx.execute(sql`select pg_advisory_xact_lock(${WRITER_LOCK})`);
        for (const step of ['hour', 'day'] as const) {
          await tx.execute(sql.raw(`delete from rollup_${step}`));
          await tx.execute(sql.raw(addToRollup(step, 'ledger')));
        }
      }),
    head: async () => {
      const found = await db.execute<{ rows: string; last: string | null }>(sql`
        select (select coalesce(sum(calls), 0) from rollup_day) as rows,
          (select to_char(max(occurred_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') from ledger) as last`);
      return { rows: Number(found.rows[0]?.rows ?? 0), last_settled_at: found.rows[0]?.last ?? null };
    },
  };
}

