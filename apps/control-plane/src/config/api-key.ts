import { createHash, randomBytes } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY_ID_LENGTH = 12;
/** 40 characters of base 62 are 238 bits. */
const SECRET_LENGTH = 40;

export interface NewApiKey {
  readonly keyId: string;
  /** The whole key, to be shown once. */
  readonly key: string;
  readonly digest: string;
}

/** Draws a new key. */
export function createApiKey(random: (size: number) => Buffer = randomBytes): NewApiKey {
  const keyId = base62(KEY_ID_LENGTH, random);
  const key = `sk-sluice-${keyId}-${base62(SECRET_LENGTH, random)}`;
  return { keyId, key, digest: digestOf(key) };
}

/** Lower-case hexadecimal SHA-256 of a whole key. */
export function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** Uniform characters: bytes from 248 up are drawn again, because 248 is the largest multiple of 62 below 256. */
function base62(length: number, random: (size: number) => Buffer): string {
  let text = '';
  while (text.length < length) {
    for (const byte of random(length)) if (byte < 248 && text.length < length) text += BASE62[byte % 62];
  }
  return text;
}
