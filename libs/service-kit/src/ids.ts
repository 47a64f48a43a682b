import type { Clock } from '@sluice/contracts';
import { pooledRandomBytes } from './pooled-random-bytes.ts';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const MAX_TIME_MS = 2 ** 48 - 1;

export interface Ids {
  /** 26 characters; sorts by time, and within a millisecond by order of creation. */
  ulid(): string;
  /** `req_` + ULID. */
  requestId(): string;
}

export interface IdsOptions {
  clock: Pick<Clock, 'now'>;
  randomBytes?: (size: number) => Uint8Array;
}

/**
 * Monotonic ULIDs (ULID specification, Alizain Feerasta, 2016): 48 bits of time, 80 random bits that grow by one within
 * a millisecond. A clock that steps back does not make ids step back: the last time is kept until it is passed.
 *
 * @throws RangeError when 2^80 ids were asked for in one millisecond, or the clock is past the year 10889.
 */
export function createIds({ clock, randomBytes = pooledRandomBytes }: IdsOptions): Ids {
  let lastMs = -1;
  let timePart = '';
  const digits = new Uint8Array(16);

  function refill(): void {
    const bytes = randomBytes(16);
    for (let i = 0; i < 16; i++) digits[i] = (bytes[i] ?? 0) & 31;
  }

  function increment(): void {
    for (let i = 15; i >= 0; i--) {
      const digit = digits[i] ?? 0;
      if (digit < 31) {
        digits[i] = digit + 1;
        return;
      }
      digits[i] = 0;
    }
    throw new RangeError('no more ids in this millisecond');
  }

  function ulid(): string {
    const nowMs = Math.max(0, Math.floor(clock.now()));
    if (nowMs > lastMs) {
      timePart = encodeTime(nowMs);
      lastMs = nowMs;
      refill();
    } else {
      increment();
    }
    let random = '';
    for (const digit of digits) random += ALPHABET.charAt(digit);
    return timePart + random;
  }

  return { ulid, requestId: () => `req_${ulid()}` };
}

function encodeTime(timeMs: number): string {
  if (timeMs > MAX_TIME_MS) throw new RangeError('time does not fit in an id');
  let text = '';
  for (let rest = timeMs, i = 0; i < 10; i++) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
