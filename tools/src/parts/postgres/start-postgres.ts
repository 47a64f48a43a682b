import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Binaries } from './binaries.ts';
import { createCluster, placeDataFolder } from './data-folder.ts';
import { stopOrphan } from './orphan.ts';
import type { Owner } from './owner.ts';

export interface PostgresServer {
  readonly port: number;
  /** Fast shutdown: open transactions are rolled back, everything is written; resolves when the process is gone. */
  stop(): Promise<void>;
}

const READY_MS = 60_000;
const LOOK_MS = 50;
const FLAGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'shared_buffers=64MB',
  'max_connections=60',
  'password_encryption=scram-sha-256',
];

/**
 * Starts PostgreSQL on 127.0.0.1 with the user and the database `sluice`, after whatever an earlier server left behind:
 * one that still runs is stopped, a half-made cluster is made again, a crash is recovered from by the server itself.
 *
 * @throws Error with one sentence when it does not come up.
 */
export async function startPostgres(deps: {
  binaries: Binaries;
  owner: Owner | undefined;
  dataDir: string;
  port: number;
  password: string;
  log: (line: string) => void;
  /** The server ended though nobody stopped it. */
  onExit: (code: number | null) => void;
}): Promise<PostgresServer> {
  const { binaries, owner, dataDir, port, password, log, onExit } = deps;
  const folder = await placeDataFolder(dataDir, owner);
  const orphan = await stopOrphan(folder);
  if (orphan !== 'none')
    log(
      orphan === 'stopped'
        ? 'stopped a PostgreSQL server that had lost its parent'
        : 'removed the lock file of a server that is gone',
    );
  if (await createCluster({ folder, binaries, owner, password })) log(`made a database cluster in ${folder}`);

  const child = spawn(binaries.postgres, ['-D', folder, '-p', String(port), ...FLAGS.flatMap((flag) => ['-c', flag])], {
    ...owner,
    cwd: folder,
    env: { ...process.env, LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lastLines: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    log(line);
    lastLines.push(line);
    if (lastLines.length > 5) lastLines.shift();
  });
  let phase: 'starting' | 'running' | 'stopping' = 'starting';
  let ended = false;
  const gone = new Promise<void>((resolve) => {
    const end = (code: number | null): void => {
      ended = true;
      resolve();
      if (phase === 'running') onExit(code);
    };
    child.once('exit', end);
    child.once('error', (error) => {
      lastLines.push(error.message);
      end(null);
    });
  });
  // Whatever ends this process, a signal during the start too, takes the server with it.
  process.once('exit', () => {
    if (!ended) child.kill('SIGINT');
  });
  const stop = async (): Promise<void> => {
    phase = 'stopping';
    if (!ended) child.kill('SIGINT');
    await gone;
  };

  try {
    await waitUntilReady({ port, password, ended: () => ended, lastLines });
    phase = 'running';
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, stop };
}

async function waitUntilReady(deps: {
  port: number;
  password: string;
  ended: () => boolean;
  lastLines: readonly string[];
}): Promise<void> {
  for (let waited = 0; waited < READY_MS; waited += LOOK_MS) {
    if (deps.ended()) throw new Error(`PostgreSQL ended at its start: ${deps.lastLines.join(' | ')}`);
    const client = new pg.Client({
      host: '127.0.0.1',
      port: deps.port,
      user: 'sluice',
      password: deps.password,
      database: 'postgres',
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const found = await client.query("select 1 from pg_database where datname = 'sluice'");
      if (found.rowCount === 0) await client.query('create database sluice');
      return;
    } catch (error) {
      if (error instanceof Error && Reflect.get(error, 'code') === '28P01') {
        throw new Error(
          'the database was made with another password: restore the secrets file, or remove the data folder',
          { cause: error },
        );
      }
      await delay(LOOK_MS);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  throw new Error(`PostgreSQL did not accept connections within ${READY_MS / 1000} s: ${deps.lastLines.join(' | ')}`);
}
