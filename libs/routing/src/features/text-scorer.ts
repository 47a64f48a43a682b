import { fitSparseRidge, rowTimes, type SparseRow } from '../linear/sparse-ridge.ts';
import { fitScale, standardise, type FeatureScale } from './feature-scale.ts';
import { withoutCourtesy } from './courtesy.ts';
import { TEXT_FEATURES, textFeatures } from './text-features.ts';
import { textGrams } from './text-grams.ts';

/**
 * Chosen by cross-validation on folds of the training data of two public tables; docs/routing-evidence.md has the
 * figures.
 */
const BUCKETS = 16_384;
const PENALTY = 24;
/** Standardised features count this much beside the words, whose vector has length 1. */
const FEATURE_WEIGHT = 0.3;
/**
 * Places behind the bias. The first depends on case. The two lengths move most of all when a sentence is put before
 * a prompt, and say nothing that its words do not.
 */
const CASE = TEXT_FEATURES.indexOf('upper_share') + 1;
const LENGTHS = [TEXT_FEATURES.indexOf('log_chars') + 1, TEXT_FEATURES.indexOf('log_words') + 1];
const LARGEST = 32_767;

/**
 * A fitted scorer. What it looks at (courtesy, grams, the weight of the features) belongs to its kind: with another
 * way of looking the same coefficients mean something else, so that gets another kind. JSON-safe: about 44 kB for
 * each model at 16,384 buckets.
 */
export interface TextScorerState {
  readonly kind: 'hashed-ridge';
  readonly models: readonly string[];
  readonly buckets: number;
  readonly scale: FeatureScale;
  /** Mean quality of each model in the training data. */
  readonly offset: readonly number[];
  /** Coefficients of bias and features, (1 + features) by models, row by row. */
  readonly features: readonly number[];
  /** What one step of `grams` is worth, for each model. */
  readonly steps: readonly number[];
  /** Coefficients of the buckets in steps, 16-bit little-endian integers, buckets by models, in base64. */
  readonly grams: string;
}

/** Expected quality of each model for a prompt, from its words and features alone. */
export interface TextScorer {
  readonly models: readonly string[];
  /**
   * Courtesy around the prompt is not looked at.
   * @param features the prompt's `textFeatures`, when they are at hand.
   */
  score(prompt: string, features?: readonly number[]): number[];
}

export interface TextExamples {
  readonly models: readonly string[];
  readonly prompts: readonly string[];
  /** Quality in [0, 1], prompts by models. */
  readonly qualities: readonly (readonly number[])[];
}

/**
 * Fits the quality of all models on hashed words, word pairs and letter groups, and the text features but for the
 * length, by one ridge regression with the same penalty. Thereby the difference of two models is the fit of their
 * difference: what is predicted well is the gain of the stronger one, not its success.
 *
 * @throws RangeError when the parts differ in length, or a quality is not in [0, 1].
 */
export function fitTextScorer(
  { models, prompts, qualities }: TextExamples,
  { buckets = BUCKETS, penalty = PENALTY }: { readonly buckets?: number; readonly penalty?: number } = {},
): TextScorerState {
  if (prompts.length !== qualities.length)
    throw new RangeError(`there are ${prompts.length} prompts and ${qualities.length} rows of qualities`);
  qualities.forEach((row, i) => {
    if (row.length !== models.length || !row.every((quality) => quality >= 0 && quality <= 1))
      throw new RangeError(`row ${i} must have ${models.length} qualities in [0, 1]`);
  });
  const plain = prompts.map(withoutCourtesy);
  const raw = plain.map(textFeatures);
  const scale = fitScale(raw);
  const rows = plain.map((prompt, i) => {
    const row = rowOf(prompt, raw[i] as number[], scale, buckets);
    // What is 0 in every row gets the coefficient 0.
    for (const at of LENGTHS) row.dense[at] = 0;
    return row;
  });
  const offset = models.map((_, k) => qualities.reduce((sum, row) => sum + (row[k] as number), 0) / qualities.length);
  const weights = fitSparseRidge(
    rows,
    qualities.map((row) => row.map((quality, k) => quality - (offset[k] as number))),
    { sparse: buckets, penalty },
  );
  const count = models.length;
  const first = (scale.mean.length + 1) * count;
  const steps = models.map((_, k) => {
    let largest = 0;
    for (let i = first + k; i < weights.length; i += count) largest = Math.max(largest, Math.abs(weights[i] as number));
    return largest / LARGEST;
  });
  const grams = Buffer.alloc(buckets * count * 2);
  for (let i = first; i < weights.length; i += 1) {
    const step = steps[(i - first) % count] as number;
    grams.writeInt16LE(step === 0 ? 0 : Math.round((weights[i] as number) / step), (i - first) * 2);
  }
  return {
    kind: 'hashed-ridge',
    models,
    buckets,
    scale,
    offset,
    features: [...weights.subarray(0, first)],
    steps,
    grams: grams.toString('base64'),
  };
}

/** @throws RangeError when the state is not one that `fitTextScorer` makes. */
export function createTextScorer(state: TextScorerState): TextScorer {
  const { models, buckets, scale, offset, features, steps } = state;
  const bytes = Buffer.from(state.grams, 'base64');
  const count = models.length;
  const dense = scale.mean.length + 1;
  if (state.kind !== 'hashed-ridge')
    throw new RangeError(`a text scorer of the kind ${String(state.kind)} is not known`);
  if (
    bytes.length !== buckets * count * 2 ||
    features.length !== dense * count ||
    steps.length !== count ||
    offset.length !== count
  )
    throw new RangeError(`the coefficients of the text scorer do not fit ${count} models and ${buckets} buckets`);
  const weights = new Float32Array(features.length + buckets * count);
  weights.set(features);
  for (let i = 0; i < buckets * count; i += 1)
    weights[features.length + i] = bytes.readInt16LE(i * 2) * (steps[i % count] as number);
  return {
    models,
    score(prompt, given) {
      const scores = new Array<number>(count).fill(0);
      const plain = withoutCourtesy(prompt);
      const features = given === undefined || plain.length !== prompt.length ? textFeatures(plain) : given;
      rowTimes(rowOf(plain, features, scale, buckets), weights, dense, scores);
      for (let k = 0; k < count; k += 1) scores[k] = (scores[k] as number) + (offset[k] as number);
      return scores;
    },
  };
}

function rowOf(
  prompt: string,
  features: readonly number[],
  scale: FeatureScale,
  buckets: number,
): SparseRow & { readonly dense: number[] } {
  const codes = textGrams(prompt, buckets);
  const dense = standardise(features, scale).map((value) => value * FEATURE_WEIGHT);
  // Who writes in capitals asks the same.
  dense[CASE] = 0;
  return { dense, codes, scale: codes.length === 0 ? 0 : 1 / Math.sqrt(codes.length) };
}
