import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Encrypts and decrypts secrets at rest: AES-256-GCM under the stack's data key. */
export interface SecretBox {
  /**
   * The text as base64: version, key fingerprint, nonce, tag, ciphertext. The same text is another ciphertext each
   * time.
   */
  seal(text: string): string;
  /** Undefined for what was sealed under a key that is not here, was altered, or was never sealed. */
  open(sealed: string): string | undefined;
}

const VERSION = 1;
const FINGERPRINT_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + FINGERPRINT_BYTES;
const KEY_BYTES = 32;
/** Binds a ciphertext to this use. */
const CONTEXT = Buffer.from('sluice secret 1');

/**
 * @param keys 32 bytes each; the first one seals, all of them open, so that a key can be replaced.
 * @throws RangeError without a key, or for one of another length.
 */
export function createSecretBox(keys: readonly Buffer[]): SecretBox {
  const [first] = keys;
  if (first === undefined) throw new RangeError('a data key is needed');
  for (const key of keys)
    if (key.length !== KEY_BYTES) throw new RangeError(`a data key has ${KEY_BYTES} bytes, not ${key.length}`);
  const byPrint = new Map(keys.toReversed().map((key) => [fingerprint(key).toString('hex'), key]));
  return {
    seal: (text) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', first, nonce).setAAD(CONTEXT);
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), fingerprint(first), nonce, cipher.getAuthTag(), body]).toString(
        'base64',
      );
    },
    open: (sealed) => {
      const bytes = Buffer.from(sealed, 'base64');
      if (bytes[0] !== VERSION || bytes.length < HEAD_BYTES + NONCE_BYTES + TAG_BYTES) return undefined;
      const key = byPrint.get(bytes.subarray(1, HEAD_BYTES).toString('hex'));
      if (key === undefined) return undefined;
      const tagAt = HEAD_BYTES + NONCE_BYTES;
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(HEAD_BYTES, tagAt), {
        authTagLength: TAG_BYTES,
      }).setAAD(CONTEXT);
      decipher.setAuthTag(bytes.subarray(tagAt, tagAt + TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(tagAt + TAG_BYTES)), decipher.final()]).toString('utf8');
      } catch {
        return undefined;
      }
    },
  };
}

/** Tells keys apart without telling anything of them. */
function fingerprint(key: Buffer): Buffer {
  return createHash('sha256').update('sluice data key').update(key).digest().subarray(0, FINGERPRINT_BYTES);
}

/**
 * The box of an environment: `SLUICE_DATA_KEY`, or the file that `SLUICE_DATA_KEY_FILE` names; base64 of 32 bytes each,
 * several by comma, the first of which seals. Undefined when neither is given.
 *
 * @throws RangeError with one sentence, never with the value.
 */
export function secretBoxFrom(env: {
  readonly key?: string | undefined;
  readonly file?: string | undefined;
}): SecretBox | undefined {
  if (env.key !== undefined && env.file !== undefined)
    throw new RangeError('Give either SLUICE_DATA_KEY or SLUICE_DATA_KEY_FILE, not both.');
  const text = env.key ?? (env.file === undefined ? undefined : readKeyFile(env.file));
  if (text === undefined) return undefined;
  const keys = text.split(',').map((part) => Buffer.from(part.trim(), 'base64'));
  if (keys.some((key) => key.length !== KEY_BYTES))
    throw new RangeError(
      'SLUICE_DATA_KEY must be base64 of 32 bytes (several by comma), as `openssl rand -base64 32` prints it.',
    );
  return createSecretBox(keys);
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new RangeError(
      `The file of SLUICE_DATA_KEY_FILE cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown reason'}.`,
      { cause: error },
    );
  }
}
