import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StackFile } from '@sluice/contracts';
import { readJson } from '../stack/private-file.ts';
import type { Connection } from './api-client.ts';
import { CliError } from './cli-error.ts';

export interface ConnectOptions {
  readonly url?: string | undefined;
  readonly user?: string | undefined;
}

/**
 * Which control plane, and as whom: by options and environment, else the stack of this checkout (or of the folder
 * of the shell) with its demo operator. A password is never an option: others would see it in the list of
 * processes.
 *
 * @throws CliError when neither says it.
 */
export function connectionFrom(options: ConnectOptions, env: NodeJS.ProcessEnv, cwd: string): Connection {
  const url = options.url ?? env['SLUICE_URL'];
  const user = options.user ?? env['SLUICE_USER'];
  const token = env['SLUICE_TOKEN'];
  const password = env['SLUICE_PASSWORD'];
  const stack = runningStackFile(env, cwd);
  const base = url ?? stack?.services['control-plane'].url;
  if (base === undefined)
    throw new CliError('Which control plane? Give --url or SLUICE_URL, or start a stack here with `make up`.', 2);
  if (token !== undefined) return { url: base, credential: { token } };
  if (user !== undefined && password !== undefined) return { url: base, credential: { user, password } };
  if (user !== undefined) throw new CliError(`The password of ${user} is missing: set SLUICE_PASSWORD.`, 2);
  // The demo operator's password goes to the demo's own control plane only.
  if (stack !== undefined && base === stack.services['control-plane'].url)
    return { url: base, credential: stack.operator };
  throw new CliError('As whom? Set SLUICE_USER and SLUICE_PASSWORD, or SLUICE_TOKEN.', 2);
}

function runningStackFile(env: NodeJS.ProcessEnv, cwd: string): StackFile | undefined {
  const checkout = fileURLToPath(new URL('../../..', import.meta.url));
  const folders =
    env['SLUICE_DATA_DIR'] === undefined
      ? [...upwards(cwd).map((folder) => join(folder, '.sluice')), join(checkout, '.sluice')]
      : [env['SLUICE_DATA_DIR']];
  const file = folders.map((folder) => join(folder, 'stack.json')).find((path) => existsSync(path));
  return file === undefined ? undefined : StackFile.safeParse(readJson(file)).data;
}

function upwards(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...upwards(parent)];
}
