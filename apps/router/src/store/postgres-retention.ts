import type pg from 'pg';
import type { RouterStore, TableFigures } from './router-store.ts';

interface Figures {
  rows: string;
  oldest: Date | null;
  bytes: string;
}

/**
 * The part of the store that measures and deletes. Each batch is one short statement: it waits for no row that
 * another holds.
 */
export function createPostgresRetention(
  pool: pg.Pool,
): Pick<RouterStore, 'measure' | 'pruneDecisions' | 'pruneJournal'> {
  async function figures(sql: string, values: unknown[] = []): Promise<TableFigures> {
    const row = (await pool.query<Figures>(sql, values)).rows[0] as Figures;
    return { rows: Number(row.rows), oldestMs: row.oldest?.getTime(), bytes: Number(row.bytes) };
  }

  return {
    measure: async (countUpTo) => ({
      decisions: await figures(
        `select (select count(*) from (select 1 from router.decisions limit $1) counted) as rows, (select min(at) from router.decisions) as oldest,
         pg_total_relation_size('router.decisions') + pg_total_relation_size('router.feedback') as bytes`,
        [countUpTo],
      ),
      // Numbers are unbroken, so nothing is counted.
      journal: await figures(
        `select coalesce(max(seq) - min(seq) + 1, 0) as rows, (select at from router.journal order by seq limit 1) as oldest, pg_total_relation_size('router.journal') as bytes from router.journal`,
      ),
    }),
    pruneDecisions: async ({ beforeMs, nowMs, limit }) => {
      const { rows } = await pool.query<{ gone: string }>(
        `with old as (
           select id from router.decisions where at < $1 and expires_at <= $2 and reward_state <> 'pending' order by at, id limit $3 for update skip locked
         ), gone as (delete from router.decisions d using old where d.id = old.id returning d.at),
         marked as (
           insert into router.retention (decisions_until) select max(at) from gone having count(*) > 0
           on conflict (id) do update set decisions_until = greatest(router.retention.decisions_until, excluded.decisions_until)
         ) select count(*) as gone from gone`,
        [new Date(beforeMs), new Date(nowMs), limit],
      );
      return Number(rows[0]?.gone ?? 0);
    },
    pruneJournal: async ({ beforeMs, keepRows, limit }) => {
      const { rowCount } = await pool.query(
        `with head as (select seq, at from router.journal order by seq limit $3)
         delete from router.journal j using head where j.seq = head.seq
           and head.seq <= coalesce((select min(seq) from router.checkpoints), 0)
           and (head.at < $1 or head.seq <= (select max(seq) from router.journal) - $2)`,
        [new Date(beforeMs), keepRows, limit],
      );
      return rowCount ?? 0;
    },
  };
}
