import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DeepCheck } from './deep-check.ts';

/** Instants at which something turns; a run takes minutes and so passes over the first and the third. */
const INSTANTS: readonly (readonly [what: string, at: string])[] = [
  ['the last minute of a month', '2026-11-30T23:59:15Z'],
  ['the 29th of February', '2028-02-29T12:00:00Z'],
  ['the end of a year', '2026-12-31T23:59:30Z'],
  ['the hour that comes twice in Berlin', '2026-10-25T00:59:45Z'],
  ['the hour that Berlin leaves out', '2027-03-28T00:59:45Z'],
];
/** Suites that decide by a date: limits, metering, ledger, billing, and what compares them. */
const SUITES = 'libs/limits/|gateway/src/metering/|control-plane/src/(ledger|billing)/|tools/src/verbs/';

/**
 * Runs the suites that decide by a date at other dates. The clock of the database is not shifted: a test fails where a
 * window was decided by it.
 */
export const clockCheck: DeepCheck = {
  name: 'The suites of limits, metering, ledger and billing pass when the clock stands at the end of a period',
  run: async ({ root }) => {
    const failed: string[] = [];
    for (const [what, at] of INSTANTS) {
      const passed = await runShifted(root, Date.parse(at) - Date.now());
      console.log(`     ${passed ? 'ok  ' : 'FAIL'} ${what}, from ${at}`);
      if (!passed) failed.push(what);
    }
    if (failed.length > 0) throw new Error(`tests fail at ${failed.join(', ')}; their lines are above`);
    return `${INSTANTS.length} instants`;
  },
};

function runShifted(root: string, shiftMs: number): Promise<boolean> {
  const preload = pathToFileURL(join(root, 'tools/jest/shifted-clock.mjs')).href;
  const args = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    join(root, 'node_modules/jest/bin/jest.js'),
    '--testPathPatterns',
    SUITES,
    '--silent',
    '--reporters',
    'summary',
  ];
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, SLUICE_CLOCK_SHIFT_MS: String(shiftMs), NODE_OPTIONS: `--import=${preload}` },
  });
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('exit', (code) => done(code === 0));
  });
}
