import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { identify, type ProcessIdentity } from './process-identity.ts';
import { openLog } from './part-log.ts';
import type { PartSpec } from './part-spec.ts';

export interface PartProcess {
  readonly identity: ProcessIdentity;
  /** `exit code 1` or `SIGKILL`. */
  readonly ended: Promise<string>;
}

/**
 * Starts a part as the leader of a process group of its own, writing straight into its log file, so that it goes on
 * when the supervisor is killed.
 *
 * @throws Error when the program cannot be started or has ended at once.
 */
export async function startPart(spec: PartSpec, logPath: string): Promise<PartProcess> {
  const log = openLog(logPath);
  try {
    const child = spawn(spec.command, spec.args, {
      cwd: spec.cwd,
      env: spec.env,
      detached: true,
      stdio: ['ignore', log, log],
    });
    const ended = new Promise<string>((resolve) => {
      child.on('error', (error) => resolve(error.message));
      child.on('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    const pid = child.pid;
    const identity = pid === undefined ? undefined : identify(pid);
    if (identity === undefined) throw new Error(await ended);
    return { identity, ended };
  } finally {
    closeSync(log);
  }
}
