import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lockFolder } from './folder-lock.ts';

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

  it('judges a holder in another container by whether it shows life', () => {
    const lock = lockFolder(dir);
    writeFileSync(lockFile(), JSON.stringify({ ...holder(), place: 'elsewhere' }));
    const path = lockFile();
    const script = `const fs = require('fs'); setInterval(() => fs.utimesSync(${JSON.stringify(path)}, new Date(), new Date()), 50);`;
    const child = spawn(process.execPath, ['-e', script]);
    try {
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
    const script = `import { lockFolder } from ${JSON.stringify(module)};
      while (Date.now() < ${Date.now() + 1500}) {}
      try { lockFolder(${JSON.stringify(dir)}); process.stdout.write('held'); setTimeout(() => {}, 2000); } catch { process.stdout.write('refused'); }`;
    const outputs = await Promise.all(
      Array.from(
        { length: 6 },
        () =>
          new Promise<string>((resolve) => {
            const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
              stdio: ['ignore', 'pipe', 'inherit'],
            });
            let text = '';
            child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
            child.on('close', () => resolve(text));
          }),
      ),
    );
    expect(outputs.sort()).toEqual(['held', ...Array<string>(5).fill('refused')]);
  }, 20_000);
});
