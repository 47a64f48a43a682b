import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigSnapshot, GatewayReport, SecretRef } from '@sluice/contracts';
import type { SecretBox } from '@sluice/service-kit';

/** Turns references into secrets. */
export interface SecretResolver {
  /** Undefined when the secret is not there; it is looked for again the next time. */
  find(ref: SecretRef): string | undefined;
  /** Reads it anew the next time: a provider refused it, and a file may hold another one by now. */
  forget(ref: SecretRef): void;
}

/**
 * Reads secrets from `SLUICE_SECRET_*` variables, from files below one folder, and encrypted ones with the data
 * key; what was found is kept.
 */
export function createSecretResolver(
  env: Readonly<Record<string, string | undefined>>,
  folder: string | undefined,
  box?: Pick<SecretBox, 'open'>,
): SecretResolver {
  const known = new Map<string, string>();
  return {
    find(ref) {
      const id = idOf(ref);
      const cached = known.get(id);
      if (cached !== undefined) return cached;
      const secret = read(ref);
      if (secret === undefined || secret === '') return undefined;
      known.set(id, secret);
      return secret;
    },
    forget: (ref) => void known.delete(idOf(ref)),
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
        return box?.open(ref.ciphertext);
    }
  }
}

const idOf = (ref: SecretRef): string =>
  ref.kind === 'encrypted' ? `encrypted:${ref.ciphertext}` : `${ref.kind}:${ref.name}`;

/** A reference as people read it, never a value. */
export function nameOfSecret(ref: SecretRef): string {
  return ref.kind === 'encrypted' ? `encrypted:${ref.ciphertext.slice(0, 12)}` : `${ref.kind}:${ref.name}`;
}

/** Every secret that the enabled providers need and that is not there. */
export function missingSecrets(
  providers: Iterable<ConfigSnapshot['providers'][string]>,
  secrets: SecretResolver,
): GatewayReport['missing_secrets'] {
  const missing: GatewayReport['missing_secrets'] = [];
  for (const provider of providers) {
    if (!provider.enabled) continue;
    for (const { id, secret } of provider.credentials) {
      if (secret === undefined || secrets.find(secret) !== undefined) continue;
      missing.push({ provider: provider.id, credential: id, secret: nameOfSecret(secret) });
    }
  }
  return missing;
}
