import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** The React apps, built by Vite into `dist`. */
const WEB_APPS = ['apps/console', 'apps/operator-console'] as const;
const SHARED_SOURCES = ['libs/ui/src', 'libs/contracts/src'] as const;

function newestMs(path: string): number {
  if (!existsSync(path)) return 0;
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return readdirSync(path).reduce((newest, name) => Math.max(newest, newestMs(join(path, name))), 0);
}

/** True when the built pages are missing or older than what they are made of. */
export function isStale(root: string, app: string): boolean {
  const built = join(root, app, 'dist/index.html');
  if (!existsSync(built)) return true;
  const sources = [`${app}/src`, `${app}/index.html`, `${app}/vite.config.ts`, ...SHARED_SOURCES];
  return sources.some((source) => newestMs(join(root, source)) > statSync(built).mtimeMs);
}

/**
 * Builds what is stale, at the same time.
 *
 * @returns the apps that were built.
 * @throws Error with Vite's last words when a build fails.
 */
export async function buildWebPages(root: string, signal?: AbortSignal): Promise<string[]> {
  const stale = WEB_APPS.filter((app) => isStale(root, app));
  await Promise.all(stale.map((app) => buildOrWait(root, app, signal)));
  return stale;
}

/**
 * What Vite says where another process builds the same pages, as two stacks do that start at once on a new
 * checkout.
 */
const BUILT_ELSEWHERE = /another Vite build process/i;
const WAIT_MS = 120_000;

async function buildOrWait(root: string, app: string, signal: AbortSignal | undefined): Promise<void> {
  const until = performance.now() + WAIT_MS;
  for (;;) {
    try {
      return await build(root, app, signal);
    } catch (error) {
      if (!(error instanceof Error) || !BUILT_ELSEWHERE.test(error.message) || performance.now() > until) throw error;
      await delay(500, undefined, signal === undefined ? {} : { signal });
      if (!isStale(root, app)) return;
    }
  }
}

function build(root: string, app: string, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const vite = createRequire(join(root, app, 'package.json'))
      .resolve('vite/package.json')
      .replace('package.json', 'bin/vite.js');
    const child = spawn(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
      cwd: join(root, app),
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
    });
    let output = '';
    const keep = (chunk: Buffer) => (output = (output + chunk.toString()).slice(-4_000));
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', reject);
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`The pages of ${app} could not be built:\n${output.trim()}`)),
    );
  });
}
