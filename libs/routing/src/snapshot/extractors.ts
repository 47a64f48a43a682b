import type { FeatureSpec, RouteDecision } from '@sluice/contracts';
import { TEXT_FEATURES, textFeatures } from '../features/text-features.ts';
import { createTextScorer, type TextScorer } from '../features/text-scorer.ts';

/** A named way from a prompt to raw features. Its meaning never changes: another one gets another name. */
export interface Extractor {
  /** As a record names it. */
  readonly name: string;
  readonly names: readonly string[];
  extract(prompt: string): number[];
}

/** The extraction of new policies. */
export const DEFAULT_EXTRACTOR = 'text/1';

const EXTRACTORS: Readonly<Record<string, Extractor>> = {
  [DEFAULT_EXTRACTOR]: { name: DEFAULT_EXTRACTOR, names: TEXT_FEATURES, extract: textFeatures },
};

/** The extraction of that name; undefined for one that this version does not know. */
export function extractorNamed(name: string): Extractor | undefined {
  return Object.hasOwn(EXTRACTORS, name) ? EXTRACTORS[name] : undefined;
}

/** As a record names what a policy looks at: the extraction, and its scorer if it has one. */
export function extractionOf({ extractor, scorer }: FeatureSpec): string {
  return scorer === undefined ? extractor : `${extractor}+${scorer.id}`;
}

/** Whether a record has all that a policy looks at: without a scorer it looks at no score. */
export function looksAt(
  spec: FeatureSpec,
  { extractor = '', features }: Pick<RouteDecision, 'extractor' | 'features'>,
): boolean {
  const same =
    extractor === extractionOf(spec) || (spec.scorer === undefined && extractor.startsWith(`${spec.extractor}+`));
  return same && features.length >= spec.names.length + (spec.scorer?.scorer.models.length ?? 0);
}

/**
 * The extraction of a policy: a scorer's scores, named `score:<model>`, follow the features. Undefined for one that
 * is not known.
 * @throws RangeError when the scorer's parts do not fit.
 */
export function extractorFor(spec: FeatureSpec): Extractor | undefined {
  const plain = extractorNamed(spec.extractor);
  if (plain === undefined || spec.scorer === undefined) return plain;
  const scorer = unpacked(spec.scorer.id, spec.scorer.scorer);
  return {
    name: extractionOf(spec),
    names: [...plain.names, ...scorer.models.map((model) => `score:${model}`)],
    extract(prompt) {
      const features = plain.extract(prompt);
      for (const score of scorer.score(prompt, features)) features.push(score);
      return features;
    },
  };
}

/** Scorers change seldom and snapshots often: the last ones are kept unpacked. */
const KEPT = 4;
const kept = new Map<string, { readonly grams: string; readonly scorer: TextScorer }>();

function unpacked(id: string, state: Parameters<typeof createTextScorer>[0]): TextScorer {
  const found = kept.get(id);
  if (found?.grams === state.grams) return found.scorer;
  const scorer = createTextScorer(state);
  kept.delete(id);
  kept.set(id, { grams: state.grams, scorer });
  if (kept.size > KEPT) kept.delete(kept.keys().next().value as string);
  return scorer;
}
