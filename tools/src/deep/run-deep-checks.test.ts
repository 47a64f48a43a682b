import { stackSettings } from '../stack/settings.ts';
import type { DeepCheck } from './deep-check.ts';
import { runDeepChecks } from './run-deep-checks.ts';

const settings = stackSettings('/nowhere', {});
const passes: DeepCheck = { name: 'Water is wet', run: async () => '3 drops' };
const fails: DeepCheck = { name: 'Fire is cold', run: () => Promise.reject(new Error('it burnt')) };
const skips: DeepCheck = { name: 'Snow is white', run: async () => ({ skipped: 'no snow here' }) };

async function run(checks: readonly DeepCheck[], ...words: string[]): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const code = await runDeepChecks(checks, settings, words, (line) => lines.push(line));
  return { code, text: lines.join('\n') };
}

describe('the long checks', () => {
  it('one that fails fails the whole, and the others still run', async () => {
    const { code, text } = await run([fails, passes, skips]);
    expect(code).toBe(1);
    expect(text).toMatch(/FAIL Fire is cold .*it burnt/);
    expect(text).toMatch(/ok {3}Water is wet .*3 drops/);
    expect(text).toContain('skip Snow is white: no snow here');
    expect(text).toContain('1 of 3 long checks passed, 1 failed, 1 skipped');
  });

  it('a word of its name selects a check', async () => {
    const { code, text } = await run([fails, passes], 'water');
    expect(code).toBe(0);
    expect(text).not.toContain('Fire');
  });

  it('a word that selects nothing is an error that lists the names', async () => {
    const { code, text } = await run([fails, passes], 'wind');
    expect(code).toBe(1);
    expect(text).toContain('Fire is cold');
  });
});
