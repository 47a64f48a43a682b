import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { DeepCheck } from './deep-check.ts';
import { ISOLATION_BREAKS, type IsolationBreak } from './isolation-breaks.ts';
import { SHARED_BREAKS } from './shared-breaks.ts';

/** What the tests need of a checkout. */
const COPIED = [
  'package.json',
  'jest.config.mjs',
  'tsconfig.base.json',
  'tsconfig.json',
  'apps',
  'libs',
  'infra',
  'tools',
];
const LEFT_OUT = new Set(['node_modules', 'dist', '.sluice']);
const TIMEOUT_MS = 300_000;

type Verdict = { readonly failed: number; readonly passed: number };

/**
 * Breaks the isolation on purpose, one way after the other, in a copy of the sources, and wants the tests to fail
 * each time.
 */
export const isolationCheck: DeepCheck = {
  name: 'Each deliberate break of the isolation between tenants makes a test fail',
  run: async ({ root }) => {
    const breaks = [...ISOLATION_BREAKS, ...SHARED_BREAKS];
    const copy = await mkdtemp(join(tmpdir(), 'sluice-breaks-'));
    try {
      for (const part of COPIED)
        await cp(join(root, part), join(copy, part), {
          recursive: true,
          filter: (path) => !LEFT_OUT.has(basename(path)),
        });
      await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
      const patterns = new Map(breaks.map(({ project, tests }) => [`${project} ${tests}`, { project, tests }]));
      for (const { project, tests } of patterns.values()) {
        const verdict = await runTests(copy, project, tests);
        if (verdict.failed > 0 || verdict.passed === 0)
          throw new Error(`unbroken, ${tests} of ${project} already fails: ${JSON.stringify(verdict)}`);
      }
      const survived: string[] = [];
      for (const one of breaks) {
        const verdict = await withBreak(copy, one, () => runTests(copy, one.project, one.tests));
        console.log(`     ${verdict.failed === 0 ? 'NOT NOTICED' : `${verdict.failed} tests fail`}: ${one.name}`);
        if (verdict.failed === 0) survived.push(one.name);
      }
      if (survived.length > 0) throw new Error(`no test notices: ${survived.join('; ')}`);
      return `${breaks.length} breaks, each noticed`;
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  },
};

async function withBreak<T>(copy: string, { name, edits }: IsolationBreak, work: () => Promise<T>): Promise<T> {
  const before = new Map<string, string>();
  try {
    for (const { file, find, put } of edits) {
      const path = join(copy, file);
      const text = await readFile(path, 'utf8');
      if (!before.has(path)) before.set(path, text);
      if (text.split(find).length !== 2) throw new Error(`the break "${name}" does not find its place in ${file}`);
      await writeFile(
        path,
        text.replace(find, () => put),
      );
    }
    return await work();
  } finally {
    for (const [path, text] of before) await writeFile(path, text);
  }
}

/**
 * Counts of a run of Jest. A suite that does not even start counts as nothing: a break that is no program proves
 * nothing.
 */
async function runTests(copy: string, project: string, pattern: string): Promise<Verdict> {
  const report = join(copy, 'report.json');
  await rm(report, { force: true });
  const args = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    join(copy, 'node_modules/jest/bin/jest.js'),
    '--maxWorkers',
    '1',
    '--selectProjects',
    project,
    '--testPathPatterns',
    pattern,
    '--json',
    '--outputFile',
    report,
  ];
  await new Promise<void>((done) => {
    execFile(process.execPath, args, { cwd: copy, timeout: TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 }, () => done());
  });
  const { numFailedTests, numPassedTests, numRuntimeErrorTestSuites } = JSON.parse(await readFile(report, 'utf8')) as {
    numFailedTests: number;
    numPassedTests: number;
    numRuntimeErrorTestSuites: number;
  };
  if (numRuntimeErrorTestSuites > 0) throw new Error(`${pattern} of ${project} could not be run`);
  return { failed: numFailedTests, passed: numPassedTests };
}
