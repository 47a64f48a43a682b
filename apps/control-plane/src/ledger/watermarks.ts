import { sql } from 'drizzle-orm';
import type { EventOrigin } from '@sluice/contracts';
import type { Executor } from '../db/open-database.ts';
import type { Watermark } from '../stream/config-stream.ts';

/**
 * Notes the positions of a batch and moves each watermark to the end of the unbroken run above it. Only positions above
 * a watermark are kept, so that the table holds gaps and not history. The caller holds the ledger's writer lock.
 */
export async function advanceWatermarks(tx: Executor, origins: readonly EventOrigin[]): Promise<Watermark[]> {
  const positions = JSON.stringify(origins.map(({ gateway_id, epoch, sequence }) => ({ gateway_id, epoch, sequence })));
  await tx.execute(sql`
    insert into ledger_watermarks (gateway_id, epoch, sequence)
    select distinct gateway_id, epoch, 0 from jsonb_to_recordset(${positions}::jsonb) as p(gateway_id text, epoch bigint)
    on conflict do nothing`);
  await tx.execute(sql`
    insert into ledger_positions (gateway_id, epoch, sequence)
    select p.gateway_id, p.epoch, p.sequence
    from jsonb_to_recordset(${positions}::jsonb) as p(gateway_id text, epoch bigint, sequence bigint)
    join ledger_watermarks w using (gateway_id, epoch)
    where p.sequence > w.sequence on conflict do nothing`);
  // In an unbroken run above the watermark, each sequence minus its rank is the watermark.
  const moved = await tx.execute<{ gateway_id: string; epoch: string; sequence: string }>(sql`
    with touched as (
      select distinct gateway_id, epoch from jsonb_to_recordset(${positions}::jsonb) as p(gateway_id text, epoch bigint)
    ), ranked as (
      select w.gateway_id, w.epoch, w.sequence as held, p.sequence, row_number() over (partition by w.gateway_id, w.epoch order by p.sequence) as rank
      from touched join ledger_watermarks w using (gateway_id, epoch) join ledger_positions p using (gateway_id, epoch)
    ), reached as (
      select gateway_id, epoch, max(sequence) as sequence from ranked where sequence - rank = held group by gateway_id, epoch
    ), updated as (
      update ledger_watermarks w set sequence = r.sequence from reached r
      where w.gateway_id = r.gateway_id and w.epoch = r.epoch returning w.gateway_id, w.epoch, w.sequence
    ), dropped as (
      delete from ledger_positions p using reached r
      where p.gateway_id = r.gateway_id and p.epoch = r.epoch and p.sequence <= r.sequence
    )
    select t.gateway_id, t.epoch, coalesce(u.sequence, w.sequence) as sequence
    from touched t join ledger_watermarks w using (gateway_id, epoch) left join updated u using (gateway_id, epoch)
    order by 1, 2`);
  return moved.rows.map(toWatermark);
}

/** Every watermark. */
export async function readWatermarks(db: Executor): Promise<Watermark[]> {
  const found = await db.execute<{ gateway_id: string; epoch: string; sequence: string }>(
    sql`select gateway_id, epoch, sequence from ledger_watermarks order by gateway_id, epoch`,
  );
  return found.rows.map(toWatermark);
}

function toWatermark(row: { gateway_id: string; epoch: string; sequence: string }): Watermark {
  return { gateway_id: row.gateway_id, epoch: Number(row.epoch), sequence: Number(row.sequence) };
}
