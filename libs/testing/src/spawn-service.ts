import { spawn, type ChildProcess } from 'node:child_process';
import { PATIENCE_MS } from './eventually.ts';

/** When a service counts as up: its output matches, or a URL answers 200. */
export type ReadyWhen = RegExp | { readonly url: string };

export interface SpawnOptions {
  /** Absolute path of the file to run, with the sources of all projects unbuilt. */
  entry: string;
  args?: readonly string[];
  /** The whole environment but PATH and HOME: nothing of the test's own leaks in. */
  env?: Record<string, string>;
  readyWhen: ReadyWhen;
  /** Default 60,000 ms. */
  timeoutMs?: number;
  cwd?: string;
}

export interface SpawnedService {
  readonly pid: number;
  /** Standard output and error so far, in order of arrival; the last 1 MiB. */
  output(): string;
  /** SIGTERM, then SIGKILL after `graceMs` (default `PATIENCE_MS`). Gives the exit code, null after a signal. */
  stop(graceMs?: number): Promise<number | null>;
  /** Sends a signal (default SIGKILL) and waits for the end. */
  kill(signal?: NodeJS.Signals): Promise<number | null>;
  /** Resolves when the process has ended, for whatever reason. */
  readonly exited: Promise<number | null>;
}

const MAX_OUTPUT = 1024 * 1024;

/** Children that still run; they are killed when the test process ends in any way that runs exit handlers. */
const running = new Set<ChildProcess>();
let watching = false;

function killAllAtExit(): void {
  if (watching) return;
  watching = true;
  process.on('exit', () => {
    for (const child of running) child.kill('SIGKILL');
  });
}

/**
 * Starts a service as a process of its own and waits until it is up.
 *
 * @throws Error with the process's output when it ended, or was not up in time; it does not run on in either case.
 */
export async function spawnService(options: SpawnOptions): Promise<SpawnedService> {
  const { entry, args = [], env = {}, readyWhen, timeoutMs = 60_000, cwd } = options;
  killAllAtExit();
  const base = Object.fromEntries(
    ['PATH', 'HOME'].flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
  const child = spawn(process.execPath, ['--conditions=@sluice/source', entry, ...args], {
    env: { ...base, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  });
  running.add(child);
  let output = '';
  const collect = (chunk: Buffer): void => {
    output = (output + chunk.toString('utf8')).slice(-MAX_OUTPUT);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  let ended = false;
  const exited = new Promise<number | null>((resolve) => {
    const end = (code: number | null): void => {
      ended = true;
      running.delete(child);
      resolve(code);
    };
    child.once('close', end);
    child.once('error', () => end(null));
  });

  async function kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    child.kill(signal);
    return exited;
  }

  async function stop(graceMs = PATIENCE_MS): Promise<number | null> {
    const late = setTimeout(() => child.kill('SIGKILL'), graceMs);
    const code = await kill('SIGTERM');
    clearTimeout(late);
    return code;
  }

  const deadlineMs = performance.now() + timeoutMs;
  while (!(await isReady(readyWhen, output))) {
    if (ended) throw new Error(`${entry} ended before it was ready:\n${output}`);
    if (performance.now() > deadlineMs) {
      await kill();
      throw new Error(`${entry} was not ready after ${timeoutMs} ms:\n${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return { pid: child.pid ?? 0, output: () => output, stop, kill, exited };
}

async function isReady(readyWhen: ReadyWhen, output: string): Promise<boolean> {
  if (readyWhen instanceof RegExp) return readyWhen.test(output);
  try {
    const res = await fetch(readyWhen.url, { signal: AbortSignal.timeout(5_000) });
    await res.arrayBuffer();
    return res.status === 200;
  } catch {
    return false;
  }
}
