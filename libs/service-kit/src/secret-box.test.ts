import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecretBox, secretBoxFrom } from './secret-box.ts';

const key = (fill: number): Buffer => Buffer.alloc(32, fill);

describe('a secret at rest', () => {
  it('is read back under its key only, and never shows in what is stored', () => {
    const sealed = createSecretBox([key(1)]).seal('sk-very-secret');
    expect(createSecretBox([key(1)]).open(sealed)).toBe('sk-very-secret');
    expect(createSecretBox([key(2)]).open(sealed)).toBeUndefined();
    expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain('secret');
    expect(createSecretBox([key(1)]).seal('sk-very-secret')).not.toBe(sealed);
  });

  it('that was altered in any byte is not read', () => {
    const box = createSecretBox([key(1)]);
    const bytes = Buffer.from(box.seal('text'), 'base64');
    for (let i = 0; i < bytes.length; i += 1) {
      const altered = Buffer.from(bytes);
      altered.writeUInt8((altered.readUInt8(i) + 1) % 256, i);
      expect(box.open(altered.toString('base64'))).toBeUndefined();
    }
    for (const junk of ['', 'AQ==', 'not base64 at all', bytes.subarray(0, 20).toString('base64')])
      expect(box.open(junk)).toBeUndefined();
  });

  it('is still read after the key was replaced, while the old one is given behind the new one', () => {
    const sealed = createSecretBox([key(1)]).seal('text');
    const both = createSecretBox([key(2), key(1)]);
    expect(both.open(sealed)).toBe('text');
    expect(createSecretBox([key(2)]).open(both.seal('text'))).toBe('text');
  });
});

describe('the data key of an environment', () => {
  it('comes from a variable or a file, and a wrong one is told without its value', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-key-'));
    try {
      const file = join(folder, 'key');
      writeFileSync(file, `${key(7).toString('base64')}\n`);
      const sealed = secretBoxFrom({ key: key(7).toString('base64') })?.seal('text') ?? '';
      expect(secretBoxFrom({ file })?.open(sealed)).toBe('text');
      expect(secretBoxFrom({})).toBeUndefined();
      expect(() => secretBoxFrom({ key: 'dG9vIHNob3J0' })).toThrow(/^SLUICE_DATA_KEY must be base64 of 32 bytes/);
      expect(() => secretBoxFrom({ key: 'dG9vIHNob3J0' })).not.toThrow(/dG9v/);
      expect(() => secretBoxFrom({ file: join(folder, 'none') })).toThrow('cannot be read: ENOENT');
      expect(() => secretBoxFrom({ key: 'x', file })).toThrow('not both');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
