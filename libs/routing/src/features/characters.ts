/** What a UTF-16 code unit is, as bits; `classOf` gives them. */
export const WORD = 2;
export const UPPER = 4;
export const SPACE = 8;
export const DIGIT = 16;
export const PUNCTUATION = 32;
export const MATH = 64;
/** Small letters a to z and the blank: nothing is counted of them but as part of a word. */
export const PLAIN = 128;

const KNOWN = 1;
const classes = new Uint8Array(65_536);
const lower = new Uint16Array(65_536);

/** Class of a code unit. Half a surrogate pair belongs to none. */
export function classOf(code: number): number {
  const known = classes[code] as number;
  return known === 0 ? learn(code) : known;
}

/** The code unit in lower case; `classOf` must have seen it before. */
export function lowerOf(code: number): number {
  return lower[code] as number;
}

/** Regular expressions know Unicode but cost too much to run on every character of every prompt: each is asked once. */
function learn(code: number): number {
  const character = String.fromCharCode(code);
  let bits = KNOWN;
  if (/[\p{L}\p{N}']/u.test(character)) bits |= WORD;
  if (/\p{Lu}/u.test(character)) bits |= UPPER;
  if (/\s/.test(character)) bits |= SPACE;
  if (/\d/.test(character)) bits |= DIGIT;
  if (/[.,;:!?'"()[\]{}]/.test(character)) bits |= PUNCTUATION;
  if (/[+\-*/=<>^√∑∫≤≥±×÷]/.test(character)) bits |= MATH;
  if ((code >= 97 && code <= 122) || code === 32) bits |= PLAIN;
  lower[code] = character.toLowerCase().charCodeAt(0);
  return (classes[code] = bits);
}

/** FNV-1a (Fowler, Noll, Vo) over code units, 32 bits. */
export const HASH_SEED = 0x811c9dc5;
export function hashStep(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193);
}

/** Spreads all bits of a hash over all others (the finaliser of MurmurHash3, A. Appleby, public domain). */
export function mixHash(hash: number): number {
  let h = hash ^ (hash >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
