import type { FrontierOptions } from './frontier-section.ts';

/**
 * What the shell asked of the frontier: `--data <folder>` or SLUICE_ROUTER_DATA, FRONTIER_TEST_FOLDS, FRONTIER_COMPARE.
 *
 * @throws RangeError for `--data` without a folder and for folds that are not whole numbers from 6 to 9.
 */
export function frontierOptions(
  env: NodeJS.ProcessEnv,
  words: readonly string[] = [],
): Pick<FrontierOptions, 'data' | 'testFolds' | 'compare'> {
  const at = words.indexOf('--data');
  const given = at < 0 ? undefined : words[at + 1];
  if (at >= 0 && given === undefined) throw new RangeError('--data needs a folder');
  const folds = (env['FRONTIER_TEST_FOLDS'] ?? '6,7').split(',').map(Number);
  if (!folds.every((fold) => Number.isInteger(fold) && fold >= 6 && fold <= 9))
    throw new RangeError(
      `FRONTIER_TEST_FOLDS must name folds from 6 to 9, not ${env['FRONTIER_TEST_FOLDS']}: the others are fitted on`,
    );
  return { data: given ?? env['SLUICE_ROUTER_DATA'], testFolds: folds, compare: env['FRONTIER_COMPARE'] === '1' };
}
