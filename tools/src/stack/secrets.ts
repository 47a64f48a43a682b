import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { PRINCIPAL_SIGNING_KEY_ENV, SERVICE_TOKEN_ENV } from '@sluice/contracts';
import { DEMO_USERS, DEMO_WORKSPACES } from '../demo/demo-tenants.ts';
import { readJson, writePrivateJson } from './private-file.ts';

/** Everything random of one stack. Kept over a restart with KEEP=1. */
export const StackSecrets = z.object({
  /** Marks the processes of this stack. */
  stackId: z.string(),
  tokens: z.record(z.string(), z.string()),
  operator: z.object({ user: z.string(), password: z.string() }),
  databasePassword: z.string(),
  /** Encrypts what is entered in the control plane; base64. */
  dataKey: z.string(),
  keys: z.record(z.string(), z.object({ keyId: z.string(), key: z.string() })),
  /** By e-mail address. */
  passwords: z.record(z.string(), z.string()),
});
export type StackSecrets = z.infer<typeof StackSecrets>;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Unbiased: bytes that would favour the first letters are thrown away. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < 248 && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}

export function createSecrets(): StackSecrets {
  const tokenNames = [...Object.values(SERVICE_TOKEN_ENV), PRINCIPAL_SIGNING_KEY_ENV];
  return {
    stackId: randomBase62(20),
    tokens: Object.fromEntries(tokenNames.map((name) => [name, randomBase62(40)])),
    operator: { user: 'operator', password: randomBase62(16) },
    databasePassword: randomBase62(24),
    dataKey: randomBytes(32).toString('base64'),
    keys: Object.fromEntries(
      DEMO_WORKSPACES.map(({ slug }) => {
        const keyId = randomBase62(12);
        return [slug, { keyId, key: `sk-sluice-${keyId}-${randomBase62(32)}` }];
      }),
    ),
    passwords: Object.fromEntries(DEMO_USERS.map(({ email }) => [email, randomBase62(16)])),
  };
}

/** The secrets that an earlier `up` left, or new ones. */
export function loadOrCreateSecrets(path: string): StackSecrets {
  const fresh = createSecrets();
  const found = readJson(path);
  // What an older version has not written is added, so that the rest stays.
  const kept = StackSecrets.safeParse(
    typeof found === 'object' && found !== null ? { dataKey: fresh.dataKey, ...found } : found,
  );
  const secrets = kept.success ? kept.data : fresh;
  writePrivateJson(path, secrets);
  return secrets;
}
