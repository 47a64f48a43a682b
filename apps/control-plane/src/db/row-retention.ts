import { sql, type SQL } from 'drizzle-orm';
import type { Clock } from '@sluice/contracts';
import type { Executor } from './open-database.ts';

/** Rows of one table that one turn deletes at most, so that nobody waits for long. */
const ROWS_OF_A_TURN = 1_000;
const DAY_MS = 86_400_000;

/** What may go, by table: what lasts, or still waits, stays whatever its age. */
const AGED: Readonly<Record<string, (before: SQL) => SQL>> = {
  anomalies: (before) => sql`occurred_at < ${before}`,
  alerts: (before) => sql`ended_at < ${before}`,
  webhook_deliveries: (before) => sql`created_at < ${before} and state <> 'waiting'`,
  invitations: (before) => sql`expires_at < ${before}`,
  sessions: (before) => sql`expires_at < ${before}`,
  put_aside: (before) => sql`at < ${before}`,
};

/** Deletes rows that are older than they are kept. */
export interface RowRetention {
  /** One bounded step over all tables; whether more is due. @throws what the database says. */
  turn(): Promise<boolean>;
}

/** @param keepDays age at which rows go. */
export function createRowRetention(deps: {
  db: Executor;
  clock: Pick<Clock, 'now'>;
  keepDays: number;
  onPruned?: (table: string, rows: number) => void;
}): RowRetention {
  const { db, clock, keepDays, onPruned } = deps;
  return {
    async turn() {
      const before = sql`${new Date(clock.now() - keepDays * DAY_MS).toISOString()}::timestamptz`;
      let more = false;
      for (const [table, aged] of Object.entries(AGED)) {
        const name = sql.raw(table);
        const gone = await db.execute(
          sql`delete from ${name} where ctid = any(array(select ctid from ${name} where ${aged(before)} limit ${ROWS_OF_A_TURN}))`,
        );
        const rows = gone.rowCount ?? 0;
        if (rows > 0) onPruned?.(table, rows);
        more ||= rows === ROWS_OF_A_TURN;
      }
      return more;
    },
  };
}
