import { mkdtemp, readdir, readFile, rm, stat, writeFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeFileAtomic } from './write-file-atomic.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atomic-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('writeFileAtomic', () => {
  it('replaces the content and sets exactly the mode that was asked for', async () => {
    const path = join(folder, 'a.json');
    await writeFile(path, 'old', { mode: 0o644 });
    await writeFileAtomic(path, 'new', 0o600);
    expect(await readFile(path, 'utf8')).toBe('new');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await writeFileAtomic(path, 'new', 0o666);
    expect((await stat(path)).mode & 0o777).toBe(0o666);
  });

  it('leaves no draft behind when it fails', async () => {
    const path = join(folder, 'taken');
    await mkdir(path);
    await expect(writeFileAtomic(path, 'x')).rejects.toThrow();
    expect(await readdir(folder)).toEqual(['taken']);
  });

  it('leaves one whole file after many writers at once', async () => {
    const path = join(folder, 'a');
    await Promise.all(Array.from({ length: 20 }, (_, i) => writeFileAtomic(path, String(i).repeat(1000))));
    expect(new Set(await readFile(path, 'utf8')).size).toBeLessThanOrEqual(2);
    expect(await readdir(folder)).toEqual(['a']);
  });
});
