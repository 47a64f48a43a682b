import { TEXT_FEATURES, textFeatures } from './text-features.ts';
import { createTextScorer, type TextScorerState } from './text-scorer.ts';

/** How a policy sees a prompt; part of its snapshot, JSON-safe. */
export type TextExtractorSpec =
  /** The sixteen text features. */
  | { readonly kind: 'text' }
  /** The same, and the expected quality of each model by a fitted scorer. */
  | { readonly kind: 'text+scores'; readonly scorer: TextScorerState };

/** Turns a prompt into the features that a policy was fitted on. */
export interface TextExtractor {
  /** Names of the features in their order; a score is named `score:<model>`. */
  readonly names: readonly string[];
  /** Not standardised; see `standardise`. */
  extract(prompt: string): number[];
}

/**
 * Made once for each snapshot: a scorer's coefficients are unpacked here, a decision only reads them.
 *
 * @throws RangeError for a specification that is not known.
 */
export function createTextExtractor(spec: TextExtractorSpec = { kind: 'text' }): TextExtractor {
  switch (spec.kind) {
    case 'text':
      return { names: TEXT_FEATURES, extract: textFeatures };
    case 'text+scores': {
      const scorer = createTextScorer(spec.scorer);
      return {
        names: [...TEXT_FEATURES, ...scorer.models.map((model) => `score:${model}`)],
        extract(prompt) {
          const features = textFeatures(prompt);
          const scores = scorer.score(prompt, features);
          for (const score of scores) features.push(score);
          return features;
        },
      };
    }
    default:
      throw new RangeError(`a text extractor of the kind ${String((spec as { kind: unknown }).kind)} is not known`);
  }
}

/**
 * Coefficients with which the arm of a model begins when its quality is expected to be what the scorer says: the
 * score's own mean as the bias and its spread as its weight, nothing for the rest. Give them to
 * `RidgeArm.withPrior`, with the scale of the features that includes the scores. A model without a score begins at
 * zero.
 */
export function scorePrior(
  names: readonly string[],
  { mean, sd }: { readonly mean: readonly number[]; readonly sd: readonly number[] },
  model: string,
): number[] {
  const theta = new Array<number>(names.length + 1).fill(0);
  const at = names.indexOf(`score:${model}`);
  if (at >= 0) {
    theta[0] = mean[at] as number;
    theta[at + 1] = sd[at] as number;
  }
  return theta;
}
