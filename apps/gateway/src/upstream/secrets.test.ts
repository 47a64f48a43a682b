import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecretBox } from '@sluice/service-kit';
import { createSecretResolver, missingSecrets, nameOfSecret } from './secrets.ts';

const folder = mkdtempSync(join(tmpdir(), 'secrets-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const KEY = Buffer.alloc(32, 1);
const sealed = (secret: string) => ({ kind: 'encrypted', ciphertext: createSecretBox([KEY]).seal(secret) }) as const;

describe('a credential of a provider', () => {
  it('that was entered and stored encrypted is opened with the data key, and by no other', () => {
    const ref = sealed('sk-upstream');
    expect(createSecretResolver({}, undefined, createSecretBox([KEY])).find(ref)).toBe('sk-upstream');
    expect(createSecretResolver({}, undefined, createSecretBox([Buffer.alloc(32, 2)])).find(ref)).toBeUndefined();
    expect(createSecretResolver({}, undefined).find(ref)).toBeUndefined();
  });

  it('in a file is read anew after its provider refused it', () => {
    const ref = { kind: 'file', name: 'upstream' } as const;
    const secrets = createSecretResolver({}, folder);
    expect(secrets.find(ref)).toBeUndefined();
    writeFileSync(join(folder, 'upstream'), 'old\n');
    expect(secrets.find(ref)).toBe('old');
    writeFileSync(join(folder, 'upstream'), 'new\n');
    expect(secrets.find(ref)).toBe('old');
    secrets.forget(ref);
    expect(secrets.find(ref)).toBe('new');
  });

  it('that is not there is named without anything that is secret', () => {
    const ref = sealed('sk-upstream');
    const provider = {
      id: 'p',
      enabled: true,
      credentials: [
        { id: 'main', secret: ref },
        { id: 'other', secret: { kind: 'env', name: 'SLUICE_SECRET_X' } },
      ],
    };
    const missing = missingSecrets([provider as never], createSecretResolver({}, folder));
    expect(missing.map(({ credential }) => credential)).toEqual(['main', 'other']);
    expect(JSON.stringify(missing)).not.toContain('sk-upstream');
    expect(missing[0]?.secret).toBe(nameOfSecret(ref));
  });
});
