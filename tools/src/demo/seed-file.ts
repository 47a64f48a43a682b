import { readFileSync } from 'node:fs';
import { SeedFile } from '@sluice/contracts';
import { readYaml, type Variables } from '../sluice/yaml-file.ts';
import type { StackSecrets } from '../stack/secrets.ts';

/** Origins of the simulated providers. */
export interface SimUrls {
  readonly primary: string;
  readonly secondary: string;
  readonly tertiary: string;
}

/** Where the gateway finds the token that the simulated providers want; any text will do. */
export const SIM_SECRET_ENV = 'SLUICE_SECRET_SIM';

const PLATFORM_FILE = new URL('../../demo/platform.yaml', import.meta.url);

/**
 * What an empty control plane of the demo starts from: the declared platform of the demo with the addresses and
 * secrets of this stack.
 *
 * @throws CliError that names the place in the file when it does not fit the contracts.
 */
export function buildSeedFile(secrets: Pick<StackSecrets, 'keys' | 'passwords'>, urls: SimUrls): SeedFile {
  return readYaml(
    'tools/demo/platform.yaml',
    readFileSync(PLATFORM_FILE, 'utf8'),
    SeedFile,
    demoVariables(secrets, urls),
  ).value;
}

/** The variables of the demo's platform. */
function demoVariables({ keys, passwords }: Pick<StackSecrets, 'keys' | 'passwords'>, urls: SimUrls): Variables {
  const variables: Record<string, string> = {
    SIM_PRIMARY_URL: urls.primary,
    SIM_SECONDARY_URL: urls.secondary,
    SIM_TERTIARY_URL: urls.tertiary,
  };
  for (const [slug, { keyId, key }] of Object.entries(keys)) {
    const name = slug.replaceAll('-', '_');
    variables[`KEY_ID_${name}`] = keyId;
    variables[`KEY_${name}`] = key;
  }
  for (const [email, password] of Object.entries(passwords))
    variables[`PASSWORD_${email.split('@', 1)[0] ?? ''}`] = password;
  return variables;
}
