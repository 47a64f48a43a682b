import { randomBytes, randomFillSync } from 'node:crypto';

const POOL_BYTES = 8192;
const pool = Buffer.allocUnsafe(POOL_BYTES);
let used = POOL_BYTES;

/**
 * Random bytes from a pool that is filled at once, because a call for a few bytes costs as much as one for
 * thousands. For ids only: the bytes of a secret would stay in memory.
 *
 * @param size at most 8192; the result is a copy.
 */
export function pooledRandomBytes(size: number): Uint8Array {
  if (used + size > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  used += size;
  return Uint8Array.prototype.slice.call(pool, used - size, used);
}

let digits = '';
let usedDigits = 0;

/**
 * Random hexadecimal digits, lower case, from a pool as above: the text of thousands is made at once.
 *
 * @param count at most 8192.
 */
export function pooledRandomHex(count: number): string {
  if (usedDigits + count > digits.length) {
    digits = randomBytes(POOL_BYTES / 2).toString('hex');
    usedDigits = 0;
  }
  usedDigits += count;
  return digits.slice(usedDigits - count, usedDigits);
}
