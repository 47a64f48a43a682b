import { sql } from 'drizzle-orm';
import type { Clock } from '@sluice/contracts';
import type { Executor } from '../db/open-database.ts';

/** Months beyond the current one whose partition exists before it is needed. */
const MONTHS_AHEAD = 2;
/** Rows further from now than this share the default partition, so that a wrong clock cannot make thousands. */
const PARTITION_WINDOW_MS = 2 * 366 * 86_400_000;

export interface Partitions {
  /**
   * Makes the partitions of these instants (RFC 3339, UTC), of this month and of the next ones, where they are
   * missing; the caller holds the writer lock. What it returns is given to `remember` once the transaction has been
   * committed.
   */
  ensure(tx: Executor, instants: readonly string[]): Promise<readonly string[]>;
  remember(months: readonly string[]): void;
}

/** Monthly partitions of the ledger. An instant without one is never refused: the default partition takes it. */
export function createPartitions({ clock }: { clock: Pick<Clock, 'now'> }): Partitions {
  /** Months whose partition is known to be committed. */
  const known = new Set<string>();
  return {
    ensure: async (tx, instants) => {
      const now = clock.now();
      const months = new Set(monthsFrom(now));
      for (const instant of instants)
        if (Math.abs(Date.parse(instant) - now) <= PARTITION_WINDOW_MS) months.add(instant.slice(0, 7));
      const missing = [...months].filter((month) => !known.has(month));
      for (const month of missing)
        await tx.execute(sql`select ledger_partition(${`${month}-01T00:00:00Z`}::timestamptz)`);
      return missing;
    },
    remember: (months) => {
      for (const month of months) known.add(month);
    },
  };
}

function monthsFrom(nowMs: number): string[] {
  const now = new Date(nowMs);
  return Array.from({ length: 1 + MONTHS_AHEAD }, (_, ahead) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1)).toISOString().slice(0, 7),
  );
}
