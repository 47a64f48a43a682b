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
const CODE = /```|\bfunction\b|\bdef\b|\bclass\b|\breturn\b|=>|\{\s*\n|;\s*\n|\bSELECT\b|#include/g;
const REASONING = /\b(?:prove|derive|explain|why|step by step|calculate|how many|deduce|therefore|if and only if|show that|optimi[sz]e|analy[sz]e)\b/gi;
const NEGATION = /\b(?:not|never|except|incorrect|false|neither|without)\b|n't\b/gi;
const OPTION = /^\s*\(?[A-Ja-j1-9][).:]\s/gm;
const NUMBER = /\d+(?:[.,]\d+)*/g;
const MATH = /[+\-*/=<>^√∑∫≤≥±×÷]/g;
const PUNCTUATION = /[.,;:!?'"()[\]{}]/g;

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

/**
 * Sixteen cheap features of a prompt in a few passes over at most 8,192 characters. Runs of white space count as one, so
 * that layout alone does not move them.
 */
export function textFeatures(prompt: string): number[] {
  const lines = prompt.slice(0, LOOKED_AT * 2).split('\n').map((line) => line.replace(/\s+/g, ' ').trim()).filter((line) => line !== '');
  const text = lines.join('\n').slice(0, LOOKED_AT);
  const chars = Math.max(1, text.length);
  const words = text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
  const letters = words.reduce((sum, word) => sum + word.length, 0);
  const total = Math.max(1, words.length);
  return [
    Math.log1p(prompt.length <= LOOKED_AT ? text.length : prompt.length),
    Math.log1p(words.length),
    letters / total,
    count(text, /\d/g) / chars,
    count(text, PUNCTUATION) / chars,
    Math.log1p(lines.length),
    count(text, /\p{Lu}/gu) / chars,
    words.filter((word) => word.length >= LONG_WORD).length / total,
    new Set(words).size / total,
    count(text, /[^\x00-\x7f]/g) / chars,
    Math.log1p(count(text, NUMBER)),
    count(text, MATH) / chars,
    Math.log1p(count(text, CODE)),
    Math.log1p(count(text, REASONING)),
    Math.log1p(count(text, NEGATION)),
    Math.log1p(count(lines.join('\n'), OPTION)),
  ];
}

/** Mean and standard deviation of each feature, of the data that a policy was fitted on. */
export interface FeatureScale {
  readonly mean: readonly number[];
  readonly sd: readonly number[];
}

/**
 * The context of a decision: a bias of 1, then each feature standardised and clipped to ±3.
 *
 * @throws RangeError naming the feature that is not a finite number, or when their count is another.
 */
export function standardise(features: readonly number[], { mean, sd }: FeatureScale): number[] {
  if (features.length !== mean.length) throw new RangeError(`there are ${features.length} features, the policy was fitted on ${mean.length}`);
  const x = [1];
  features.forEach((value, i) => {
    if (!Number.isFinite(value)) throw new RangeError(`feature ${i} is ${value}`);
    const spread = sd[i] as number;
    x.push(spread <= 0 ? 0 : Math.max(-3, Math.min(3, (value - (mean[i] as number)) / spread)));
  });
  return x;
}

/** Scale of many rows of features. @throws RangeError without rows. */
export function fitScale(rows: readonly (readonly number[])[]): FeatureScale {
  const first = rows[0];
  if (first === undefined) throw new RangeError('there is nothing to fit a scale on');
  const mean = first.map((_, i) => rows.reduce((sum, row) => sum + (row[i] as number), 0) / rows.length);
  const sd = first.map((_, i) => Math.sqrt(rows.reduce((sum, row) => sum + ((row[i] as number) - (mean[i] as number)) ** 2, 0) / rows.length));
  return { mean, sd };
}
