import { classOf, HASH_SEED, hashStep, lowerOf, mixHash, WORD } from './characters.ts';

/** Text beyond this is not looked at, UTF-16 code units. */
const LOOKED_AT = 4_096;
/** Inside a word, with a mark at either end. */
const GRAM = 4;
const WORD_MARK = 1;
const PAIR_SALT = 0x9e3779b9;
const GRAM_SALT = 0x7f4a7c15;

const seen = new Map<number, { readonly stamps: Uint32Array; stamp: number }>();
/** A word with its marks. A longer one is cut: what is longer is no word of a language. */
const padded = new Uint16Array(66);
/** What one text gives at most: each character a word, a pair and a run; copied when its length is known. */
const found = new Int32Array(3 * LOOKED_AT + 3);

/**
 * The words of a text, pairs of neighbouring words, and the runs of four letters inside words, each hashed with a
 * sign into one of `buckets` (the hashing trick: Weinberger et al. 2009). A bucket counts once, with the sign of
 * what came first. Neither case nor white space nor punctuation changes them.
 *
 * @param buckets a power of two.
 * @returns one number for each bucket that occurs: twice the bucket, plus 1 where the sign is negative.
 */
export function textGrams(prompt: string, buckets: number): Int32Array {
  let table = seen.get(buckets);
  if (table === undefined) {
    if (!Number.isInteger(Math.log2(buckets)) || buckets < 2)
      throw new RangeError(`the number of buckets must be a power of two, not ${buckets}`);
    seen.set(buckets, (table = { stamps: new Uint32Array(buckets), stamp: 0 }));
  }
  if (table.stamp === 0xffffffff) table.stamps.fill((table.stamp = 0));
  const stamp = (table.stamp += 1);
  const { stamps } = table;
  const mask = buckets - 1;
  let count = 0;
  const add = (hash: number): void => {
    const mixed = mixHash(hash);
    const bucket = mixed & mask;
    if (stamps[bucket] === stamp) return;
    stamps[bucket] = stamp;
    found[count] = bucket * 2 + (mixed >>> 31);
    count += 1;
  };
  const end = Math.min(prompt.length, LOOKED_AT);
  let before = 0;
  for (let i = 0; i < end; i += 1) {
    if ((classOf(prompt.charCodeAt(i)) & WORD) === 0) continue;
    let length = 1;
    let word = HASH_SEED;
    padded[0] = WORD_MARK;
    for (; i < end; i += 1) {
      const code = prompt.charCodeAt(i);
      if ((classOf(code) & WORD) === 0) break;
      const small = lowerOf(code);
      word = hashStep(word, small);
      if (length < padded.length - 1) padded[length++] = small;
    }
    padded[length++] = WORD_MARK;
    add(word);
    if (before !== 0) add(Math.imul(before, 31) ^ word ^ PAIR_SALT);
    before = word;
    for (let from = 0; from + GRAM <= length; from += 1) {
      let gram = HASH_SEED ^ GRAM_SALT;
      for (let k = from; k < from + GRAM; k += 1) gram = hashStep(gram, padded[k] as number);
      add(gram);
    }
  }
  return found.slice(0, count);
}
