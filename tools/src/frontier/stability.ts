import { chooseByUtility, createTextScorer, fitTextScorer, meanDearestCost, rowsOf } from '@sluice/routing';
import { NOISE_KINDS, withNoise, type NoiseKind } from './prompt-noise.ts';
import type { RoutingTable } from './routing-tables.ts';

/** Share of choices that noise may flip. */
export const MOST_FLIPS = 0.2;

export interface Stability {
  readonly kind: NoiseKind;
  readonly prompts: number;
  /** Share of prompts whose base choice is another with the noise. */
  readonly flips: number;
}

/** How often noise changes the choice for prompts that were not fitted on, at a weight of cost; fitted on `train`. */
export function stabilityOf(
  table: RoutingTable,
  train: readonly number[],
  test: readonly number[],
  costWeight: number,
): Stability[] {
  const withPrompt = (rows: readonly number[]): number[] => rows.filter((row) => table.prompts[row] !== undefined);
  const promptsOf = (rows: readonly number[]): string[] => rows.map((row) => table.prompts[row] as string);
  const [known, asked] = [withPrompt(train), withPrompt(test)];
  const scorer = createTextScorer(
    fitTextScorer({ models: table.models, prompts: promptsOf(known), qualities: rowsOf(table, known).qualities }),
  );
  const part = rowsOf(table, asked);
  const referenceCost = meanDearestCost(rowsOf(table, train));
  const choose = (prompts: readonly string[]): number[] =>
    chooseByUtility(
      prompts.map((prompt) => scorer.score(prompt)),
      part,
      costWeight,
      referenceCost,
    );
  const before = choose(promptsOf(asked));
  return NOISE_KINDS.map((kind) => {
    const after = choose(promptsOf(asked).map((prompt, i) => withNoise(prompt, kind, i + 1)));
    return {
      kind,
      prompts: asked.length,
      flips: after.filter((choice, i) => choice !== before[i]).length / asked.length,
    };
  });
}
