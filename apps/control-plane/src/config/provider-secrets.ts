import { Provider, type ProviderInput, type SecretInput } from '@sluice/contracts';
import type { FieldFault, SecretBox } from '@sluice/service-kit';

type StoredCredential = Provider['credentials'][number];

/**
 * A provider as it is stored: entered secrets encrypted, `{ "kind": "encrypted" }` replaced by what is stored under the
 * credential's id. A secret that is entered again with the same text keeps its ciphertext, so that nothing changes.
 *
 * A stored secret never goes to another address than the one it was entered for: who may change the address could else
 * read it there.
 */
export function sealProvider(
  input: ProviderInput,
  old: Provider | undefined,
  box: SecretBox | undefined,
): { provider: Provider } | { faults: FieldFault[] } {
  const faults: FieldFault[] = [];
  const credentials = input.credentials.map((credential, i): StoredCredential => {
    const { secret, ...rest } = credential;
    if (secret === undefined) return rest;
    const stored = old?.credentials.find(({ id }) => id === credential.id)?.secret;
    const kept = stored?.kind === 'encrypted' ? stored : undefined;
    const sealed = seal(secret, kept, box, old === undefined || sameOrigin(old.baseUrl, input.baseUrl));
    if (typeof sealed !== 'string') return { ...rest, secret: sealed };
    faults.push({ path: `credentials.${i}.secret`, message: sealed });
    return rest;
  });
  return faults.length > 0 ? { faults } : { provider: { ...input, credentials } };
}

type StoredSecret = NonNullable<StoredCredential['secret']>;
type Encrypted = Extract<StoredSecret, { kind: 'encrypted' }>;

/** The stored form, or what is wrong. */
function seal(
  secret: SecretInput,
  kept: Encrypted | undefined,
  box: SecretBox | undefined,
  sameAddress: boolean,
): StoredSecret | string {
  switch (secret.kind) {
    case 'env':
    case 'file':
      return secret;
    case 'encrypted':
      if (kept === undefined) return 'there is no stored secret to keep; enter one, or refer to one by env or file';
      return sameAddress ? kept : "must be entered again, because the provider's address changes";
    case 'entered':
      if (box === undefined)
        return 'cannot be stored, because this stack has no data key (SLUICE_DATA_KEY); refer to one by env or file';
      if (kept !== undefined && box.open(kept.ciphertext) === secret.value) return kept;
      return { kind: 'encrypted', ciphertext: box.seal(secret.value) };
  }
}

function sameOrigin(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin;
}

/** A provider as it may be shown: a stored secret is shown as being there, not as what it is. */
export function maskProvider(provider: Provider): ProviderInput {
  return {
    ...provider,
    credentials: provider.credentials.map(({ secret, ...rest }) =>
      secret === undefined ? rest : { ...rest, secret: secret.kind === 'encrypted' ? { kind: 'encrypted' } : secret },
    ),
  };
}

/** The same of a row of which only is known that it should be a provider; undefined for anything else. */
export function maskRow(row: unknown): ProviderInput | undefined {
  const parsed = Provider.safeParse(row);
  return parsed.success ? maskProvider(parsed.data) : undefined;
}
