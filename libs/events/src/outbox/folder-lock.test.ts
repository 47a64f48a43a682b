import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@sluice/testing';
import { lockFolder } from './folder-lock.ts';

/** Processes are started. */
const SLOW_START = { timeoutMs: 45_000 };

describe('the lock of a folder', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'lock-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const lockFile = (): string =>
    join(
      dir,
      readdirSync(dir)
        .filter((name) => name.startsWith('lock-'))
        .sort()
        .at(-1) as string,
    );
  const holder = (): Record<string, unknown> => JSON.parse(readFileSync(lockFile(), 'utf8')) as Record<string, unknown>;

  it('lets no second one in while the first lives, and one after its release', () => {
    const lock = lockFolder(dir);
    expect(() => lockFolder(dir)).toThrow(/in use by process/);
    lock.release();
    lockFolder(dir).release();
  });

  it('takes over from a process that is dead, and from one whose pid another process has now', () => {
    lockFolder(dir);
    writeFileSync(lockFile(), JSON.stringify({ ...holder(), pid: 2 ** 22 + 1 }));
    lockFolder(dir);
    writeFileSync(lockFile(), JSON.stringify({ ...holder(), startedAt: '1' }));
    expect(lockFolder(dir).beat()).toBe(true);
  });

  it('judges a holder in another container by whether it shows life', async () => {
    const lock = lockFolder(dir);
    writeFileSync(lockFile(), JSON.stringify({ ...holder(), place: 'elsewhere' }));
    const path = lockFile();
    const script = `const fs = require('fs'); setInterval(() => fs.utimesSync(${JSON.stringify(path)}, new Date(), new Date()), 50);`;
    const child = spawn(process.execPath, ['-e', script]);
    try {
      utimesSync(path, 1, 1);
      await eventually(() => expect(statSync(path).mtimeMs).toBeGreaterThan(1_000), SLOW_START);
      expect(() => lockFolder(dir, 3000)).toThrow(/of elsewhere/);
    } finally {
      child.kill('SIGKILL');
    }
    utimesSync(path, 1, 1);
    expect(lock.beat()).toBe(true);
    lockFolder(dir, 300);
    // The one that was silent for too long learns that it holds the folder no more.
    expect(lock.beat()).toBe(false);
  });

  it('of many processes that find a dead holder at once, one gets the folder', async () => {
    lockFolder(dir);
    writeFileSync(lockFile(), JSON.stringify({ ...holder(), pid: 2 ** 22 + 1 }));
    const module = fileURLToPath(new URL('folder-lock.ts', import.meta.url));
    // Each says that it is up, tries at our word, and lives until its input ends.
    const script = `import { lockFolder } from ${JSON.stringify(module)};
      process.stdin.once('data', () => {
        try { lockFolder(${JSON.stringify(dir)}); process.stdout.write('held'); } catch { process.stdout.write('refused'); }
      });
      process.stdout.write('up ');`;
    const children = Array.from({ length: 6 }, () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const state = { child, text: '' };
      child.stdout.on('data', (chunk: Buffer) => (state.text += chunk.toString()));
      return state;
    });
    const texts = (): string[] => children.map(({ text }) => text).sort();
    try {
      await eventually(() => expect(texts()).toEqual(Array<string>(6).fill('up ')), SLOW_START);
      for (const { child } of children) child.stdin.write('go');
      await eventually(() => expect(texts()).toEqual(['up held', ...Array<string>(5).fill('up refused')]), SLOW_START);
    } finally {
      for (const { child } of children) child.kill('SIGKILL');
    }
  });
});
