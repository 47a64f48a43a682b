import { randomBytes, scrypt as scryptCallback, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const scrypt = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scryptCallback,
);

export interface ScryptCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** OWASP's floor for scrypt (2023): N = 2^15, r = 8, p = 3; 32 MiB each. */
export const PASSWORD_COST: ScryptCost = { N: 2 ** 15, r: 8, p: 3 };
const MAX_MEMORY_BYTES = 64 * 1024 * 1024;
const KEY_BYTES = 32;

/** A salted scrypt hash as `scrypt$N$r$p$salt$hash`, salt and hash base64url. */
export async function hashPassword(password: string, cost: ScryptCost = PASSWORD_COST): Promise<string> {
  const salt = randomBytes(16);
  const hash = await scrypt(password.normalize('NFKC'), salt, KEY_BYTES, { ...cost, maxmem: MAX_MEMORY_BYTES });
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/** Whether the password belongs to the hash; false for a hash in another format. Takes the same time either way. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [scheme, n, r, p, salt, hash] = stored.split('$');
  if (scheme !== 'scrypt' || salt === undefined || hash === undefined) return false;
  const expected = Buffer.from(hash, 'base64url');
  const cost = { N: Number(n), r: Number(r), p: Number(p), maxmem: MAX_MEMORY_BYTES };
  const actual = await scrypt(password.normalize('NFKC'), Buffer.from(salt, 'base64url'), KEY_BYTES, cost);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
