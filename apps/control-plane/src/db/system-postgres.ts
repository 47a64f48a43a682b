import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Folder of the PostgreSQL server programs that this machine has installed, by `pg_config`; undefined without them. */
export function systemPostgresBin(): string | undefined {
  try {
    const folder = execFileSync('pg_config', ['--bindir'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    return existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Major version of the server programs in a folder. */
export function postgresMajor(bin: string): number {
  return Number(/(\d+)\./.exec(execFileSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' }))?.[1]);
}

/**
 * Makes a cluster in an empty folder, which its owner may write, and serves it on a port of loopback; without a
 * password, for tests and measurements only.
 */
export async function serveCluster(deps: {
  readonly bin: string;
  readonly folder: string;
  readonly port: number;
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  readonly flags: readonly string[];
}): Promise<{ stop(): Promise<void> }> {
  const { bin, folder, port, owner, flags } = deps;
  const options = { ...owner, cwd: folder, env: { ...process.env, LC_ALL: 'C' } };
  execFileSync(
    join(bin, 'initdb'),
    ['-D', folder, '--no-sync', '--encoding=UTF8', '--locale=C', '-U', 'sluice', '-A', 'trust'],
    { ...options, stdio: 'ignore' },
  );
  const server = spawn(
    join(bin, 'postgres'),
    ['-D', folder, '-p', String(port), ...flags.flatMap((flag) => ['-c', flag])],
    { ...options, stdio: 'ignore' },
  );
  const gone = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  process.once('exit', () => void server.kill('SIGINT'));
  return {
    stop: async () => {
      server.kill('SIGINT');
      await gone;
    },
  };
}
