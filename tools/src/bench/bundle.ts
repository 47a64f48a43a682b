import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { gzipSync } from 'node:zlib';
import { table } from '../stack/welcome.ts';
import { printTarget } from './bench-report.ts';

const TARGET_KB = 120;
const AIM_KB = 90;

export interface BundleFile {
  /** Path below the folder, such as `assets/index-x.js`. */
  readonly path: string;
  readonly bytes: number;
  readonly gzipBytes: number;
}

export interface Bundle {
  /** Scripts that the page needs before anything is shown: those that it names, and all that they import. */
  readonly initial: readonly BundleFile[];
  /** Scripts that are loaded when they are first needed. */
  readonly lazy: readonly BundleFile[];
  readonly styles: readonly BundleFile[];
}

/** @throws Error when the folder has no `index.html`, or a script is imported that is not there. */
export function measureBundle(dist: string): Bundle {
  const html = readFileSync(join(dist, 'index.html'), 'utf8');
  const open = [...html.matchAll(/<(?:script|link)\b[^>]*\b(?:src|href)="\/([^"]+\.js)"/g)].map(
    (match) => match[1] as string,
  );
  const initial = new Set<string>();
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (initial.has(path)) continue;
    initial.add(path);
    const folder = posix.dirname(path);
    // `import(…)` is not among these: what it names is loaded later.
    for (const match of readFileSync(join(dist, path), 'utf8').matchAll(/\b(?:from|import)\s*["'](\.[^"']+\.js)["']/g))
      open.push(posix.join(folder, match[1] as string));
  }
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'));
  const read = (path: string): BundleFile => {
    const content = readFileSync(join(dist, path));
    return { path, bytes: content.length, gzipBytes: gzipSync(content).length };
  };
  const scripts = files.filter((path) => path.endsWith('.js'));
  return {
    initial: scripts.filter((path) => initial.has(path)).map(read),
    lazy: scripts.filter((path) => !initial.has(path)).map(read),
    styles: files.filter((path) => path.endsWith('.css')).map(read),
  };
}

/** What a person's browser loads before the tenant console shows something, as built from the sources now. */
export async function benchBundle(root: string): Promise<void> {
  const app = join(root, 'apps/console');
  const dist = mkdtempSync(join(tmpdir(), 'sluice-bundle-'));
  try {
    await build(app, dist);
    const { initial, lazy, styles } = measureBundle(dist);
    const kb = (files: readonly BundleFile[]): number =>
      files.reduce((sum, { gzipBytes }) => sum + gzipBytes, 0) / 1000;
    console.log('\nTenant console, kB gzipped');
    console.log(
      table([
        ['file', 'kB', 'when'],
        ...initial.map((file) => row(file, 'at once')),
        ...styles.map((file) => row(file, 'styles')),
        ...lazy.map((file) => row(file, 'when needed')),
      ]).join('\n'),
    );
    printTarget('Initial JavaScript', kb(initial), TARGET_KB, AIM_KB, ' kB');
    console.log(`  loaded when needed: ${kb(lazy).toFixed(2)} kB in ${lazy.length} files`);
  } finally {
    rmSync(dist, { recursive: true, force: true });
  }
}

const row = ({ path, gzipBytes }: BundleFile, when: string): string[] => [
  path.replace(/^assets\//, ''),
  (gzipBytes / 1000).toFixed(2),
  when,
];

function build(app: string, dist: string): Promise<void> {
  const vite = createRequire(join(app, 'package.json'))
    .resolve('vite/package.json')
    .replace('package.json', 'bin/vite.js');
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [vite, 'build', '--logLevel', 'warn', '--outDir', dist, '--emptyOutDir'], {
      cwd: app,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.on('error', reject);
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`the console could not be built: vite ended with ${code}`)),
    );
  });
}
