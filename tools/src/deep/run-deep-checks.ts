import type { StackSettings } from '../stack/settings.ts';
import type { DeepCheck } from './deep-check.ts';

/**
 * Runs the checks one after the other and prints a verdict with its figures as soon as each ends; a failure does
 * not stop the rest. With `words`, only the checks whose name holds one of them, in any case.
 *
 * @returns the exit code: 1 when a check failed or when `words` select none.
 */
export async function runDeepChecks(
  checks: readonly DeepCheck[],
  settings: StackSettings,
  words: readonly string[],
  print: (line: string) => void,
): Promise<number> {
  const chosen = checks.filter(
    ({ name }) => words.length === 0 || words.some((word) => name.toLowerCase().includes(word.toLowerCase())),
  );
  if (chosen.length === 0) {
    print(`No long check is named like '${words.join(' ')}'. There are:`);
    for (const { name } of checks) print(`  ${name}`);
    return 1;
  }
  let failed = 0;
  let skipped = 0;
  for (const check of chosen) {
    print(`...  ${check.name}`);
    const started = performance.now();
    const took = (): string => `${((performance.now() - started) / 1000).toFixed(1)} s`;
    try {
      const figures = await check.run(settings);
      if (typeof figures === 'string') print(`ok   ${check.name} (${took()}): ${figures}`);
      else {
        skipped += 1;
        print(`skip ${check.name}: ${figures.skipped}`);
      }
    } catch (error) {
      failed += 1;
      print(`FAIL ${check.name} (${took()}): ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  print(
    `${chosen.length - failed - skipped} of ${chosen.length} long checks passed, ${failed} failed, ${skipped} skipped`,
  );
  return failed === 0 ? 0 : 1;
}
