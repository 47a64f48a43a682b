import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SluiceError, type SecretRef } from '@sluice/contracts';

/** Turns references into secrets. */
export type SecretResolver = (ref: SecretRef) => string;

/**
 * Reads secrets from `SLUICE_SECRET_*` variables and from files below one folder; each is read once.
 *
 * @throws SluiceError `upstream_account` when a secret is not there; the text names the reference, never a value.
 */
export function createSecretResolver(env: Readonly<Record<string, string | undefined>>, folder: string | undefined): SecretResolver {
  const known = new Map<string, string>();
  return (ref) => {
    const id = ref.kind === 'encrypted' ? 'encrypted' : `${ref.kind}:${ref.name}`;
    const cached = known.get(id);
    if (cached !== undefined) return cached;
    const secret = read(ref);
    if (secret === undefined || secret === '') throw new SluiceError('upstream_account', `the provider secret ${id} is not set`);
    known.set(id, secret);
    return secret;
  };

  function read(ref: SecretRef): string | undefined {
    switch (ref.kind) {
      case 'env':
        return env[ref.name];
      case 'file':
        if (folder === undefined) return undefined;
        try {
          return readFileSync(join(folder, ref.name), 'utf8').trim();
        } catch {
          return undefined;
        }
      case 'encrypted':
        throw new SluiceError('upstream_account', 'encrypted provider secrets are not supported yet; use env or file references');
    }
  }
}
