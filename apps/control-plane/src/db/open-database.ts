import { setTimeout as delay } from 'node:timers/promises';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { systemClock, type Clock } from '@sluice/contracts';
import { MIGRATIONS, type Migration } from './migrations.ts';

export type Db = NodePgDatabase<Record<string, unknown>>;
/** A transaction, or the database itself: what a statement runs on. */
export type Executor = Pick<Db, 'execute'>;

export interface Database {
  readonly pool: pg.Pool;
  readonly db: Db;
  /** Applies what is missing of the schema, or of the steps given; safe to call from several processes at once. */
  migrate(steps?: readonly Migration[]): Promise<void>;
  /** Whether a trivial statement is answered within two seconds. */
  healthy(): Promise<boolean>;
  close(): Promise<void>;
}

export interface OpenDatabaseOptions {
  url: string;
  logger: { info(detail: object, message: string): void; warn(detail: object, message: string): void };
  /** How long to wait for the server at boot, milliseconds; default 60,000. */
  waitMs?: number;
  /** Connections at most; default 12. */
  maxConnections?: number;
  clock?: Pick<Clock, 'monotonic'>;
}

/** Any number does, as long as no other lock of this database uses it. */
const MIGRATION_LOCK = 7_110_001;
const RETRY_MS = 250;
/** Not a matter of waiting: wrong password, unknown user or database. */
const HOPELESS = new Set(['28P01', '28000', '3D000']);

/**
 * Connects to PostgreSQL, waiting until it answers.
 *
 * @throws Error with one sentence when it does not answer in time or refuses the user.
 */
export async function openDatabase(options: OpenDatabaseOptions): Promise<Database> {
  const { url, logger, waitMs = 60_000, maxConnections = 12, clock = systemClock } = options;
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    statement_timeout: 60_000,
  });
  // An idle connection that the server cuts must not end the process; the pool opens another.
  pool.on('error', (error) => logger.warn({ err: error }, 'the database cut an idle connection'));
  // A connection in the middle of a transaction tells of its end itself; the statement that runs on it fails as well.
  pool.on('connect', (client) =>
    client.on('error', (error) => logger.warn({ err: error }, 'the database cut a connection in use')),
  );
  try {
    await waitUntilReachable(pool, clock, waitMs, logger);
  } catch (error) {
    await pool.end();
    throw error;
  }
  return {
    pool,
    db: drizzle(pool),
    migrate: (steps = MIGRATIONS) => migrate(pool, steps, logger),
    healthy: async () => {
      try {
        await pool.query({ text: 'select 1', query_timeout: 2_000 } as pg.QueryConfig);
        return true;
      } catch {
        return false;
      }
    },
    close: () => pool.end(),
  };
}

async function waitUntilReachable(
  pool: pg.Pool,
  clock: Pick<Clock, 'monotonic'>,
  waitMs: number,
  logger: OpenDatabaseOptions['logger'],
): Promise<void> {
  const until = clock.monotonic() + waitMs;
  for (let tries = 1; ; tries += 1) {
    try {
      await pool.query('select 1');
      return;
    } catch (error) {
      const reason = error instanceof Error && error.message !== '' ? error.message : String(codeOf(error) ?? error);
      if (HOPELESS.has(String(codeOf(error))))
        throw new Error(`the database refuses the connection of DATABASE_URL: ${reason}`, { cause: error });
      if (clock.monotonic() >= until)
        throw new Error(`the database of DATABASE_URL did not answer within ${waitMs / 1000} s: ${reason}`, {
          cause: error,
        });
      if (tries === 1) logger.info({ reason }, 'waiting for the database');
      await delay(RETRY_MS);
    }
  }
}

async function migrate(
  pool: pg.Pool,
  steps: readonly Migration[],
  logger: OpenDatabaseOptions['logger'],
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await client.query(
      'create table if not exists schema_migrations (id text primary key, applied_at timestamptz not null default now())',
    );
    const applied = await client.query<{ id: string }>('select id from schema_migrations');
    const known = new Set(applied.rows.map((row) => row.id));
    for (const migration of steps.filter((one) => !known.has(one.id))) {
      await client.query('begin');
      try {
        // A step over many rows takes as long as it takes.
        await client.query('set local statement_timeout = 0');
        await client.query(migration.sql);
        await client.query('insert into schema_migrations (id) values ($1)', [migration.id]);
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw new Error(`migration ${migration.id} failed: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      }
      logger.info({ migration: migration.id }, 'changed the database schema');
    }
  } finally {
    await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    client.release();
  }
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
}
