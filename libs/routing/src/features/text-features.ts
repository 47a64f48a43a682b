import {
  classOf,
  DIGIT,
  HASH_SEED,
  hashStep,
  lowerOf,
  MATH,
  PLAIN,
  PUNCTUATION,
  SPACE,
  UPPER,
  WORD,
} from './characters.ts';

export * from './feature-scale.ts';

/** Names of the text features, in the order of `textFeatures`. `log_` is ln(1 + count), shares lie in [0, 1]. */
export const TEXT_FEATURES = [
  'log_chars',
  'log_words',
  'mean_word_length',
  'digit_share',
  'punctuation_share',
  'log_lines',
  'upper_share',
  'long_word_share',
  'distinct_word_share',
  'non_ascii_share',
  'log_numbers',
  'math_share',
  'code_cues',
  'reasoning_cues',
  'negation_cues',
  'log_options',
] as const;

/** Text beyond this is not looked at: its length is known, its features change little. Characters. */
const LOOKED_AT = 8_192;
const LONG_WORD = 8;
const NEWLINE = 10;
const BLANK = 32;

const CODE_WORDS = ['function', 'def', 'class', 'return'];
const NEGATIONS = ['not', 'never', 'except', 'incorrect', 'false', 'neither', 'without'];
const REASONING = [
  'prove',
  'derive',
  'explain',
  'why',
  'step by step',
  'calculate',
  'how many',
  'deduce',
  'therefore',
  'if and only if',
  'show that',
  'optimize',
  'optimise',
  'analyze',
  'analyse',
];

interface Cue {
  readonly kind: 'code' | 'negation' | 'reasoning';
  /** In lower case, with single blanks. */
  readonly phrase: string;
}

/** Cues by the hash of their first word. */
const CUES = new Map<number, Cue>();
/** Whether a hash that ends in these ten bits may be one of them: most words are none, and a map costs more to ask. */
const MAY_BE_CUE = new Uint8Array(1_024);
for (const [kind, phrases] of [
  ['code', CODE_WORDS],
  ['negation', NEGATIONS],
  ['reasoning', REASONING],
] as const) {
  for (const phrase of phrases) {
    const hash = hashOf(phrase.split(' ')[0] as string);
    CUES.set(hash, { kind, phrase });
    MAY_BE_CUE[hash & 1_023] = 1;
  }
}

/** The text with runs of white space as one blank or line end, reused from call to call. */
const text = new Uint16Array(LOOKED_AT);
/** Class of each of its characters. */
const kinds = new Uint8Array(LOOKED_AT);
/** Places of what `countCharacters` has to look at: what is not plain, or begins a line. */
const marked = new Uint16Array(LOOKED_AT);
let markedCount = 0;
/** Hash set of the words of one text, at most half full; a slot is taken when its stamp is the call's. */
const SLOTS = 8_192;
const slotHash = new Int32Array(SLOTS);
const slotStamp = new Uint32Array(SLOTS);
let stamp = 0;

/**
 * Sixteen cheap features of a prompt in two passes over at most 8,192 characters. Runs of white space count as one,
 * so that layout alone does not move them. Empty lines do not count as lines.
 */
export function textFeatures(prompt: string): number[] {
  const length = normalise(prompt);
  const chars = Math.max(1, length);
  const counts = countCharacters(length);
  const words = countWords(length);
  const total = Math.max(1, words.total);
  return [
    Math.log1p(prompt.length <= LOOKED_AT ? length : prompt.length),
    Math.log1p(words.total),
    words.letters / total,
    counts.digits / chars,
    counts.punctuation / chars,
    Math.log1p(counts.lines),
    counts.upper / chars,
    words.long / total,
    words.distinct / total,
    counts.nonAscii / chars,
    Math.log1p(counts.numbers),
    counts.math / chars,
    Math.log1p(counts.code + words.code),
    Math.log1p(words.reasoning),
    Math.log1p(words.negation),
    Math.log1p(counts.options),
  ];
}

/** Fills `text` and gives its length. */
function normalise(prompt: string): number {
  const end = Math.min(prompt.length, LOOKED_AT * 2);
  let length = 0;
  let gap = 0;
  markedCount = 0;
  for (let i = 0; i < end && length < LOOKED_AT; i += 1) {
    const code = prompt.charCodeAt(i);
    const kind = classOf(code);
    if ((kind & SPACE) !== 0) {
      if (gap !== NEWLINE) gap = code === NEWLINE ? NEWLINE : BLANK;
      continue;
    }
    if (gap !== 0 && length > 0) {
      text[length] = gap;
      kinds[length] = classOf(gap);
      if (gap === NEWLINE) marked[markedCount++] = length;
      length += 1;
    }
    if (length < LOOKED_AT) {
      text[length] = code;
      kinds[length] = kind;
      if ((kind & PLAIN) === 0 || gap === NEWLINE || length === 0) marked[markedCount++] = length;
      length += 1;
    }
    gap = 0;
  }
  return length;
}

function countCharacters(length: number) {
  let digits = 0;
  let punctuation = 0;
  let upper = 0;
  let nonAscii = 0;
  let math = 0;
  let numbers = 0;
  let code = 0;
  let options = 0;
  let lines = length === 0 ? 0 : 1;
  let skipTo = 0;
  for (let at = 0; at < markedCount; at += 1) {
    const i = marked[at] as number;
    if (i < skipTo) continue;
    const unit = text[i] as number;
    const bits = kinds[i] as number;
    if ((bits & DIGIT) !== 0) {
      digits += 1;
      if (!continuesNumber(i)) numbers += 1;
    } else if ((bits & (PUNCTUATION | MATH)) !== 0) {
      if ((bits & PUNCTUATION) !== 0) punctuation += 1;
      if ((bits & MATH) !== 0) math += 1;
      if (isCodeMark(i, length)) code += 1;
    } else if ((bits & UPPER) !== 0) upper += 1;
    else if (unit === NEWLINE) lines += 1;
    else if (unit === 96 /* ` */ && text[i + 1] === 96 && text[i + 2] === 96 && i + 2 < length) {
      code += 1;
      skipTo = i + 3;
    } else if (unit === 35 /* # */ && follows(i + 1, 'include', length)) code += 1;
    if (unit > 127) nonAscii += 1;
    if ((i === 0 || text[i - 1] === NEWLINE) && startsOption(i, length)) options += 1;
  }
  return { digits, punctuation, upper, nonAscii, math, numbers, code, options, lines };
}

/** The digit at `i` belongs to a number that began before: 1.5 and 12,000 are one number each. */
function continuesNumber(i: number): boolean {
  if (i === 0) return false;
  if (((kinds[i - 1] as number) & DIGIT) !== 0) return true;
  return i > 1 && (text[i - 1] === 46 || text[i - 1] === 44) && ((kinds[i - 2] as number) & DIGIT) !== 0;
}

/** `=>`, and a brace or a semicolon that ends a line. */
function isCodeMark(i: number, length: number): boolean {
  const unit = text[i] as number;
  if (i + 1 >= length) return false;
  return unit === 61 ? text[i + 1] === 62 : (unit === 123 || unit === 59) && text[i + 1] === NEWLINE;
}

/** A line that begins like an answer to choose: `A.`, `(b)`, `3:`, then a blank or the line's end. */
function startsOption(start: number, length: number): boolean {
  let i = start;
  if (text[i] === 40) i += 1;
  if (i + 2 >= length) return false;
  const label = text[i] as number;
  const letter = label | 32;
  if (!((letter >= 97 && letter <= 106) || (label >= 49 && label <= 57))) return false;
  const mark = text[i + 1];
  return (mark === 41 || mark === 46 || mark === 58) && (text[i + 2] === BLANK || text[i + 2] === NEWLINE);
}

function countWords(length: number) {
  stamp = stamp === 0xffffffff ? 1 : stamp + 1;
  if (stamp === 1) slotStamp.fill(0);
  const counts = { total: 0, letters: 0, long: 0, distinct: 0, code: 0, reasoning: 0, negation: 0 };
  for (let i = 0; i < length; i += 1) {
    if (((kinds[i] as number) & WORD) === 0) continue;
    const from = i;
    let hash = HASH_SEED;
    for (; i < length && ((kinds[i] as number) & WORD) !== 0; i += 1) hash = hashStep(hash, lowerOf(text[i] as number));
    counts.total += 1;
    counts.letters += i - from;
    if (i - from >= LONG_WORD) counts.long += 1;
    if (isNew(hash)) counts.distinct += 1;
    const cue = MAY_BE_CUE[hash & 1_023] === 0 ? undefined : CUES.get(hash);
    if (cue !== undefined) {
      if (follows(from, cue.phrase, length)) counts[cue.kind] += 1;
    } else if (i - from > 3 && follows(i - 3, "n't", length)) counts.negation += 1;
  }
  return counts;
}

function isNew(hash: number): boolean {
  let slot = hash & (SLOTS - 1);
  while (slotStamp[slot] === stamp) {
    if (slotHash[slot] === hash) return false;
    slot = (slot + 1) & (SLOTS - 1);
  }
  slotStamp[slot] = stamp;
  slotHash[slot] = hash;
  return true;
}

/** The text has `phrase` (in lower case) at `from`, in any case, and no word goes on behind it. */
function follows(from: number, phrase: string, length: number): boolean {
  const end = from + phrase.length;
  if (end > length) return false;
  for (let k = 0; k < phrase.length; k += 1) {
    const unit = text[from + k] as number;
    const small = unit === NEWLINE ? BLANK : lowerOf(unit);
    if (small !== phrase.charCodeAt(k)) return false;
  }
  return end === length || ((kinds[end] as number) & WORD) === 0;
}

function hashOf(word: string): number {
  let hash = HASH_SEED;
  for (let i = 0; i < word.length; i += 1) hash = hashStep(hash, word.charCodeAt(i));
  return hash;
}
