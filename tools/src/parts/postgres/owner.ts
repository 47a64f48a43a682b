import { execFileSync } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The user that the server runs as, where that is not the user of this process. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * PostgreSQL refuses to run as root: as root it runs as the user `postgres`, else as whoever runs this.
 *
 * @throws Error when this is root and there is no such user.
 */
export function postgresOwner(): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  try {
    return { uid: idOf('-u'), gid: idOf('-g') };
  } catch (error) {
    throw new Error(
      'PostgreSQL does not run as root and there is no user "postgres" here: run as another user, or `useradd --system postgres`',
      { cause: error },
    );
  }
}

function idOf(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
}

/** Whether the owner can reach what is in a folder: every folder above it, and itself, lets that user pass. */
export async function canReach(owner: Owner | undefined, folder: string): Promise<boolean> {
  if (owner === undefined) return true;
  for (let at = folder; ; at = dirname(at)) {
    const { mode, uid, gid } = await stat(at);
    const passes = uid === owner.uid ? mode & 0o100 : gid === owner.gid ? mode & 0o010 : mode & 0o001;
    if (passes === 0) return false;
    if (dirname(at) === at) return true;
  }
}
