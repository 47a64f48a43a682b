import { spawn, execFileSync, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { isHealthy, type HealthCheck } from '../supervisor/health-check.ts';

/** `target` has the first core for itself; the `rest` is on the others; `any` uses them all. */
export type Core = 'target' | 'rest' | 'any';

/** A gateway with 100,000 workspaces reads its configuration for seconds. */
const READY_MS = 120_000;
const cores = availableParallelism();

function works(command: string, args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Pinning needs taskset and a second core. */
export const pinned = cores > 1 && works('taskset', ['-c', '0', 'true']);

function command(core: Core, args: readonly string[]): [string, string[]] {
  // What is built is measured as it is deployed; sources run unbuilt.
  const node =
    args[0]?.endsWith('.ts') === true
      ? [process.execPath, '--conditions=@sluice/source', '--disable-warning=ExperimentalWarning', ...args]
      : [process.execPath, ...args];
  if (!pinned || core === 'any') return [process.execPath, node.slice(1)];
  return ['taskset', ['-c', core === 'target' ? '0' : `1-${cores - 1}`, ...node]];
}

/** Builds one app and what it depends on. @throws Error with the compiler's output. */
export function buildApp(root: string, app: string): void {
  execFileSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-b', join(root, 'apps', app, 'tsconfig.app.json')],
    { cwd: root, stdio: 'inherit' },
  );
}

export interface BenchProcess {
  readonly pid: number;
  stop(): Promise<void>;
}

/** @throws Error with what the process said when it is not healthy within 120 s. */
export function startBenchProcess(
  root: string,
  entry: string,
  core: Core,
  env: NodeJS.ProcessEnv,
  health: HealthCheck,
): Promise<BenchProcess> {
  const [program, args] = command(core, [join(root, entry)]);
  return watchBenchProcess(
    spawn(program, args, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] }),
    entry,
    health,
  );
}

/** Waits until a process is healthy. @throws Error with what it said when it is not within 120 s. */
export async function watchBenchProcess(
  child: ChildProcessByStdio<null, Readable, Readable>,
  name: string,
  health: HealthCheck,
): Promise<BenchProcess> {
  let output = '';
  const keep = (chunk: Buffer) => (output = (output + chunk.toString()).slice(-2_000));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const until = performance.now() + READY_MS;
  while (!(await isHealthy(health))) {
    if (child.exitCode !== null || performance.now() > until) {
      await stop(child);
      throw new Error(`${name} did not start:\n${output}`);
    }
    await delay(50);
  }
  return { pid: child.pid ?? 0, stop: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await ended;
  clearTimeout(timer);
}

/** Runs a script to its end and returns what it printed. */
export function runBenchScript(root: string, entry: string, core: Core, env: NodeJS.ProcessEnv): Promise<string> {
  const [program, args] = command(core, [join(root, entry)]);
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve(output) : reject(new Error(`${entry} ended with ${code}`))));
  });
}

/** Kernel ticks are 10 ms on Linux everywhere that Node.js runs. */
const TICK_US = 10_000;

/**
 * CPU time that a process has used, all threads, user and system, microseconds; undefined where /proc does not
 * tell. From the scheduler's own nanoseconds where the kernel keeps them, else in ticks. Threads that have ended
 * are missing in the first; none of the measured programs ends one.
 */
export function cpuMicroseconds(pid: number): number | undefined {
  try {
    let ns = 0;
    for (const thread of readdirSync(`/proc/${pid}/task`))
      ns += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    return ns / 1000;
  } catch {
    return ticks(pid);
  }
}

function ticks(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_US;
  } catch {
    return undefined;
  }
}

/** Resident memory of a process, bytes; undefined where /proc does not tell. */
export function residentBytes(pid: number): number | undefined {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? NaN) * 1024;
  } catch {
    return undefined;
  }
}
