import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import { access, chmod, chown, lstat, mkdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { REACHABLE, type Binaries } from './binaries.ts';
import { canReach, type Owner } from './owner.ts';

/**
 * Where the data is: `<dataDir>/postgres`. Where the server's user cannot pass the folders above, that is a link to a
 * private folder below /var/tmp; without the link, what an earlier checkout left there is removed.
 */
export async function placeDataFolder(dataDir: string, owner: Owner | undefined): Promise<string> {
  const wanted = resolve(dataDir, 'postgres');
  await mkdir(dataDir, { recursive: true });
  const existing = await lstat(wanted).catch(() => undefined);
  if (existing?.isSymbolicLink() === true) return readlink(wanted);
  if (await canReach(owner, dataDir)) return wanted;
  const outside = join(REACHABLE, `sluice-postgres-${createHash('sha256').update(wanted).digest('hex').slice(0, 16)}`);
  await rm(outside, { recursive: true, force: true });
  await symlink(outside, wanted);
  return outside;
}

/**
 * Makes the cluster unless it is there. It appears under its name only when it is whole, so a kill in between does
 * no harm.
 */
export async function createCluster(deps: {
  folder: string;
  binaries: Binaries;
  owner: Owner | undefined;
  password: string;
}): Promise<boolean> {
  const { folder, binaries, owner, password } = deps;
  if (
    await access(join(folder, 'PG_VERSION')).then(
      () => true,
      () => false,
    )
  )
    return false;
  const partial = `${folder}.new`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true, mode: 0o700 });
  const passwordFile = join(partial, 'password');
  const cluster = join(partial, 'cluster');
  await mkdir(cluster, { mode: 0o700 });
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  for (const path of owner === undefined ? [] : [partial, cluster, passwordFile])
    await chown(path, owner?.uid ?? 0, owner?.gid ?? 0);
  await promisify(execFile)(
    binaries.initdb,
    [
      `--pgdata=${cluster}`,
      '--username=sluice',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
    ],
    { ...owner, cwd: partial, env: { ...process.env, LC_ALL: 'C' } },
  );
  await rm(folder, { recursive: true, force: true });
  await rename(cluster, folder);
  await chmod(folder, 0o700);
  await rm(partial, { recursive: true, force: true });
  return true;
}
