import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 8192;
const pool = Buffer.allocUnsafe(POOL_BYTES);
let used = POOL_BYTES;

/**
 * Random bytes from a pool that is filled at once, because a call for a few bytes costs as much as one for thousands. For ids
 * only: the bytes of a secret would stay in memory.
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
