import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { StackFile } from '@sluice/contracts';
import { buildSeedFile } from '../demo/seed-file.ts';
import { preflight } from '../stack/preflight.ts';
import { writePrivate, writePrivateJson } from '../stack/private-file.ts';
import { runningStack, StackError } from '../stack/running-stack.ts';
import { loadOrCreateSecrets } from '../stack/secrets.ts';
import { stackFiles, urlOf, type StackSettings } from '../stack/settings.ts';
import { stopStack } from '../stack/stop-stack.ts';
import { buildWebPages } from '../stack/web-pages.ts';
import { welcome } from '../stack/welcome.ts';
import { openLog } from '../supervisor/part-log.ts';
import { identify, isAlive, type ProcessIdentity } from '../supervisor/process-identity.ts';
import { stopProcess } from '../supervisor/stop-process.ts';
import { readState, type SupervisorState } from '../supervisor/supervisor-state.ts';
import { seed } from './seed.ts';

const POLL_MS = 100;
const SUPERVISOR_GRACE_MS = 60_000;

/** Starts the stack unless it runs, sends a little traffic through it, and tells how to use it. */
export async function up(settings: StackSettings): Promise<number> {
  const files = stackFiles(settings.dataDir);
  const found = readState(files.state);
  if (found !== undefined && isAlive(found.supervisor) && found.phase === 'running') {
    console.log('The stack is already running.');
    const ignored = Object.keys(settings.env).filter((name) => name.startsWith('SLUICE_SECRET_'));
    if (ignored.length > 0)
      console.log(`It does not see ${ignored.join(', ')}: run \`KEEP=1 make down\` first, then this again.`);
    console.log(welcome(runningStack(settings.dataDir)));
    return 0;
  }
  const startedAt = performance.now();
  await bringUp(settings);
  console.log(
    `Every part is healthy after ${((performance.now() - startedAt) / 1000).toFixed(1)} s. Sending a little traffic through it:`,
  );
  await seed(settings);
  console.log(welcome(runningStack(settings.dataDir)));
  return 0;
}

/**
 * Starts the parts and follows them until all are healthy.
 *
 * @param giveUp ends the start, as an interrupt does.
 * @throws StackError when something is in the way, a part does not start or it is given up; nothing runs then.
 */
export async function bringUp(settings: StackSettings, giveUp?: AbortSignal): Promise<StackFile> {
  const files = stackFiles(settings.dataDir);
  const left = await stopStack(settings.dataDir);
  if (left.length > 0) console.log(`Stopped what an earlier run had left: ${left.join(', ')}.`);
  const faults = await preflight(settings);
  if (faults.length > 0) {
    // The look at the disk may have made the folder.
    if (existsSync(settings.dataDir) && readdirSync(settings.dataDir).length === 0) rmdirSync(settings.dataDir);
    throw new StackError(faults.join('\n'));
  }

  mkdirSync(settings.dataDir, { recursive: true, mode: 0o700 });
  const secrets = loadOrCreateSecrets(files.secrets);
  writePrivateJson(
    files.seed,
    buildSeedFile(secrets, {
      primary: urlOf(settings, 'simPrimary'),
      secondary: urlOf(settings, 'simSecondary'),
      tertiary: urlOf(settings, 'simTertiary'),
    }),
  );

  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  giveUp?.addEventListener('abort', interrupt);
  if (giveUp?.aborted === true) interrupt();
  let supervisor: ProcessIdentity | undefined;
  try {
    supervisor = startSupervisor(settings);
    const pages = buildWebPages(settings.root, interrupted.signal).then((built) => {
      if (built.length > 0) console.log(`  built the pages of ${built.join(' and ')}`);
      writePrivate(files.webReady, `${new Date().toISOString()}\n`);
    });
    await Promise.race([Promise.all([pages, follow(files.state, interrupted.signal)]), failed(pages)]);
    return runningStack(settings.dataDir);
  } catch (error) {
    interrupted.abort();
    // It may not have written its state yet, so it is told by the identity that we have.
    if (supervisor !== undefined) await stopProcess(supervisor, SUPERVISOR_GRACE_MS);
    await stopStack(settings.dataDir);
    throw new StackError(`${(error as Error).message}\nEverything that was started has been stopped.`);
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
    giveUp?.removeEventListener('abort', interrupt);
    rmSync(files.webReady, { force: true });
  }
}

/** Never resolves; rejects when `work` does. */
function failed(work: Promise<void>): Promise<never> {
  return new Promise((_resolve, reject) => work.catch(reject));
}

function startSupervisor(settings: StackSettings): ProcessIdentity | undefined {
  const log = openLog(stackFiles(settings.dataDir).log('supervisor'));
  const entry = join(settings.root, 'tools/src/supervisor/main.ts');
  const child = spawn(
    process.execPath,
    ['--conditions=@sluice/source', '--disable-warning=ExperimentalWarning', entry],
    {
      cwd: settings.root,
      env: settings.env,
      detached: true,
      stdio: ['ignore', log, log],
    },
  );
  child.unref();
  closeSync(log);
  return child.pid === undefined ? undefined : identify(child.pid);
}

async function follow(statePath: string, signal: AbortSignal): Promise<void> {
  const told = new Set<string>();
  const supervisorDeadline = performance.now() + 60_000;
  for (;;) {
    if (signal.aborted) throw new Error('Interrupted.');
    const state = readState(statePath);
    if (state !== undefined) {
      tellProgress(state, told);
      if (state.phase === 'running') return;
      if (state.failure !== undefined) throw new Error(failureText(state.failure));
      if (!isAlive(state.supervisor)) throw new Error('The supervisor ended; see .sluice/logs/supervisor.log.');
    } else if (performance.now() > supervisorDeadline) {
      throw new Error('The supervisor did not start; see .sluice/logs/supervisor.log.');
    }
    await delay(POLL_MS);
  }
}

function tellProgress(state: SupervisorState, told: Set<string>): void {
  for (const part of state.parts) {
    if (part.state !== 'ready' || told.has(part.name)) continue;
    told.add(part.name);
    console.log(`  ${part.name.padEnd(14)} ${part.purpose} — ready in ${((part.readyMs ?? 0) / 1000).toFixed(1)} s`);
  }
}

function failureText(failure: NonNullable<SupervisorState['failure']>): string {
  const lines = failure.lastLines.map((line) => `    ${line.slice(0, 400)}`);
  return [
    `The stack did not start: ${failure.message}.`,
    ...(lines.length > 0 ? [`The last lines of its log:`, ...lines] : ['It wrote no log.']),
  ].join('\n');
}
