import { sql } from 'drizzle-orm';
import type { CallSettled, Clock, LedgerCorrection, LedgerRow } from '@sluice/contracts';
import type { LedgerReader } from '../api/ports.ts';
import type { Db } from '../db/open-database.ts';
import type { Watermark } from '../stream/config-stream.ts';
import { createCorrections, type CorrectionHook } from './corrections.ts';
import { createGroupCommit } from './group-commit.ts';
import { insertRows, type NewRow } from './insert-rows.ts';
import { ledgerRecord } from './ledger-columns.ts';
import type { LedgerMetrics } from './ledger-metrics.ts';
import { createLedgerReader } from './ledger-reader.ts';
import { createPartitions } from './partitions.ts';
import { createRollups, type Rollups, type Span } from './rollups.ts';
import { advanceWatermarks } from './watermarks.ts';
import { asWriter } from './writer-lock.ts';

export interface InsertResult {
  readonly inserted: number;
  readonly duplicates: number;
  /** Where the ledger stands now for every gateway and epoch of the batch. */
  readonly watermarks: readonly Watermark[];
}

export interface Ledger extends LedgerReader {
  /**
   * Records events, rollups and positions in one transaction, together with batches that come while another is
   * written. An event that is held already changes nothing, so a batch may be sent any number of times and in any
   * order.
   */
  insertBatch(events: readonly CallSettled[]): Promise<InsertResult>;
  /** Adds a correction of a call as a row of its own; see `createCorrections`. */
  correct(correction: LedgerCorrection, hook?: CorrectionHook): Promise<{ row: LedgerRow; created: boolean }>;
  /** Makes the partitions of this month and the next ones, so that no batch has to. */
  prepare(): Promise<void>;
  rebuildRollups(span?: Span): Promise<number>;
  checkRollups: Rollups['check'];
  /** Calls held and the newest row, for the live picture. */
  head(): Promise<{ rows: number; last_settled_at: string | null }>;
}

/** Events of one transaction at most, where several batches wait. */
const GROUP_EVENTS = 1_000;

/** The record of every settled call, in PostgreSQL. Money is whole nanodollars throughout. */
export function createLedger(deps: {
  db: Db;
  /** For what people read; `db` when absent. */
  reads?: Db;
  clock: Pick<Clock, 'now' | 'monotonic'>;
  metrics?: LedgerMetrics;
}): Ledger {
  const { db, clock, metrics } = deps;
  const partitions = createPartitions({ clock });
  const rollups = createRollups({ db, clock, onDay: metrics?.rebuiltDay });
  const reader = createLedgerReader({ db: deps.reads ?? db });
  const corrections = createCorrections({ db, clock, partitions });
  const group = createGroupCommit(commit, GROUP_EVENTS);

  async function commit(
    events: readonly CallSettled[],
  ): Promise<{ fresh: Set<string>; watermarks: readonly Watermark[] }> {
    const began = clock.monotonic();
    try {
      const { made, fresh, rollupRows, watermarks } = await asWriter(db, async (tx) => {
        const made = await partitions.ensure(
          tx,
          events.map((event) => event.occurred_at),
        );
        const written = await insertRows(
          tx,
          events.map((event) => ledgerRecord(event) as NewRow),
        );
        return { made, ...written, watermarks: await advanceWatermarks(tx, events) };
      });
      partitions.remember(made);
      metrics?.committed({
        events: events.length,
        inserted: fresh.size,
        rollupRows,
        durationMs: clock.monotonic() - began,
        occurredAt: events.flatMap((event) => (fresh.has(event.event_id) ? [event.occurred_at] : [])),
      });
      return { fresh, watermarks };
    } catch (error) {
      metrics?.failed();
      throw error;
    }
  }

  return {
    ...reader,
    insertBatch: async (events) => {
      if (events.length === 0) return { inserted: 0, duplicates: 0, watermarks: [] };
      const { fresh, watermarks } = await group.add(events);
      // Each added event is told to one of those who brought it.
      let inserted = 0;
      for (const event of events) if (fresh.delete(event.event_id)) inserted += 1;
      const mine = new Set(events.map(placeOf));
      return {
        inserted,
        duplicates: events.length - inserted,
        watermarks: watermarks.filter((mark) => mine.has(placeOf(mark))),
      };
    },
    correct: corrections.correct,
    prepare: async () => partitions.remember(await asWriter(db, (tx) => partitions.ensure(tx, []))),
    rebuildRollups: rollups.rebuild,
    checkRollups: rollups.check,
    head: async () => {
      const found = await db.execute<{ rows: string; last: string | null }>(sql`
        select (select coalesce(sum(calls), 0) from rollup_day) as rows,
          (select to_char(max(occurred_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') from ledger) as last`);
      return { rows: Number(found.rows[0]?.rows ?? 0), last_settled_at: found.rows[0]?.last ?? null };
    },
  };
}

const placeOf = ({ gateway_id, epoch }: { gateway_id: string; epoch: number }): string => `${gateway_id}/${epoch}`;
