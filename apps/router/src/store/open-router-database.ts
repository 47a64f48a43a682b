import pg from 'pg';
import { ROUTER_MIGRATIONS } from './migrations.ts';

/** Any number does, as long as no other lock of this database uses it. */
const MIGRATION_LOCK = 7_110_090;

/** A pool that never ends the process; nothing is connected yet. */
export function createRouterPool(url: string, logger: { warn(fields: object, message: string): void }): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: 6,
    connectionTimeoutMillis: 3_000,
    idleTimeoutMillis: 30_000,
    statement_timeout: 30_000,
    query_timeout: 35_000,
  });
  pool.on('error', (error) => logger.warn({ err: error }, 'the database cut an idle connection'));
  pool.on('connect', (client) =>
    client.on('error', (error) => logger.warn({ err: error }, 'the database cut a connection in use')),
  );
  return pool;
}

/** Brings the router's schema, `router`, up to date; safe to call from several processes at once. */
export async function migrateRouter(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await client.query('create schema if not exists router');
    await client.query(
      'create table if not exists router.schema_migrations (id text primary key, applied_at timestamptz not null default now())',
    );
    const known = new Set(
      (await client.query<{ id: string }>('select id from router.schema_migrations')).rows.map(({ id }) => id),
    );
    for (const { id, sql } of ROUTER_MIGRATIONS.filter((step) => !known.has(step.id))) {
      await client.query('begin');
      try {
        await client.query(sql);
        await client.query('insert into router.schema_migrations (id) values ($1)', [id]);
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw new Error(`migration ${id} failed: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      }
    }
  } finally {
    await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    client.release();
  }
}
