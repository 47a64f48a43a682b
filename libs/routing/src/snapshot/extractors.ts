import { TEXT_FEATURES, textFeatures } from '../features/text-features.ts';

/** A named way from a prompt to raw features. Its meaning never changes: another one gets another name. */
export interface Extractor {
  readonly names: readonly string[];
  extract(prompt: string): number[];
}

/** The extraction of new policies. */
export const DEFAULT_EXTRACTOR = 'text/1';

const EXTRACTORS: Readonly<Record<string, Extractor>> = {
  [DEFAULT_EXTRACTOR]: { names: TEXT_FEATURES, extract: textFeatures },
};

/** The extraction of that name; undefined for one that this version does not know. */
export function extractorNamed(name: string): Extractor | undefined {
  return Object.hasOwn(EXTRACTORS, name) ? EXTRACTORS[name] : undefined;
}
