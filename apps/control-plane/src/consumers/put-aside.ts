import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { PutAsideRecord, type Clock, type EventOrigin } from '@sluice/contracts';
import type { Db, Executor } from '../db/open-database.ts';
import { advanceWatermarks } from '../ledger/watermarks.ts';
import { asWriter } from '../ledger/writer-lock.ts';

/** Records kept; when there are as many, the next ones stay where they are and hold up what is behind them. */
const MAX_RECORDS = 10_000;

export interface Refused {
  /** Names the record; put aside again, it changes nothing. */
  readonly id: string;
  readonly source: PutAsideRecord['source'];
  readonly reason: string;
  /** As it came. */
  readonly body: string;
}

/** Records that are never taken: kept apart with the reason, so that what is behind them goes on. */
export interface PutAside {
  /** With what else has to happen for the rest to go on; false when there is no room. */
  take(tx: Executor, refused: Refused): Promise<boolean>;
  /**
   * A usage record that the ledger refuses for good: its gateway is told that it is taken over, if the ledger knows
   * the gateway.
   */
  takeUsage(origin: EventOrigin, refused: Pick<Refused, 'reason' | 'body'>): Promise<boolean>;
  /** Newest first. */
  list(limit: number): Promise<PutAsideRecord[]>;
  count(): Promise<number>;
}

const Row = PutAsideRecord.omit({ body: true }).extend({ body: z.instanceof(Buffer) });

export function createPutAside({
  db,
  clock,
  onTaken,
}: {
  db: Db;
  clock: Pick<Clock, 'now'>;
  onTaken?: (refused: Pick<Refused, 'id' | 'source' | 'reason'>) => void;
}): PutAside {
  const take = async (tx: Executor, { id, source, reason, body }: Refused): Promise<boolean> => {
    // The reason is made of words of ours and the database's; the body may hold what no text column takes.
    const taken = await tx.execute(sql`
      insert into put_aside (id, source, reason, body, at)
      select ${id}, ${source}, ${reason}, ${Buffer.from(body, 'utf8')}::bytea, ${new Date(clock.now()).toISOString()}::timestamptz
      where (select count(*) from put_aside) < ${MAX_RECORDS} on conflict do nothing returning id`);
    if (taken.rows.length > 0) {
      onTaken?.({ id, source, reason });
      return true;
    }
    return (await tx.execute(sql`select 1 from put_aside where id = ${id}`)).rows.length > 0;
  };
  return {
    take,
    takeUsage: (origin, { reason, body }) =>
      asWriter(db, async (tx) => {
        const { gateway_id, epoch, sequence } = origin;
        const known = await tx.execute(sql`select 1 from ledger_watermarks where gateway_id = ${gateway_id} limit 1`);
        if (known.rows.length === 0) return false;
        const id = `usage ${gateway_id}/${epoch}/${sequence}`;
        if (!(await take(tx, { id, source: 'ledger', reason, body }))) return false;
        await advanceWatermarks(tx, [origin]);
        return true;
      }),
    async list(limit) {
      const found = await db.execute(sql`
        select id, source, reason, body, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
        from put_aside order by put_aside.at desc, id desc limit ${limit}`);
      return Row.array()
        .parse(found.rows)
        .map((row) => ({ ...row, body: row.body.toString('utf8') }));
    },
    async count() {
      const found = await db.execute<{ count: string }>(sql`select count(*)::text as count from put_aside`);
      return Number(found.rows[0]?.count ?? 0);
    },
  };
}
