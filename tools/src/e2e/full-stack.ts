import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OperatorState, type LedgerRow, LedgerPage, type SimFault, SimStats, type StackFile } from '@sluice/contracts';
import { eventually, freePortBase } from '@sluice/testing';
import { stackSettings, type StackSettings } from '../stack/settings.ts';
import { removeData, stopStack } from '../stack/stop-stack.ts';
import { isAlive } from '../supervisor/process-identity.ts';
import { readState } from '../supervisor/supervisor-state.ts';
import { stackFiles } from '../stack/settings.ts';
import { bringUp } from '../verbs/up.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The whole embedded stack, under its own supervisor, on ports and in a folder of its own. */
export interface FullStack {
  readonly settings: StackSettings;
  readonly file: StackFile;
  readonly gatewayUrl: string;
  /** A call of the operator API; the parsed body. */
  api(method: string, path: string, body?: unknown): Promise<unknown>;
  state(): Promise<OperatorState>;
  ledger(): Promise<LedgerRow[]>;
  fault(provider: string, fault: SimFault): Promise<void>;
  stats(provider: string): Promise<SimStats>;
  /** Kills a part without warning; the supervisor starts it again. */
  killPart(name: string): void;
  /** Kills a part, does `work` while it surely does not run, and lets the supervisor start it again. */
  whileStopped(name: string, work: () => void): Promise<void>;
  stop(): Promise<void>;
}

export interface FullStackOptions {
  /** Its folder, which goes with it; a new one when absent. */
  readonly dataDir?: string;
  /** Ends the start; after 100 s when absent. To come before the end of the test's hook, which stops nothing. */
  readonly late?: AbortSignal;
}

/**
 * @throws StackError when it does not start, or not in time; nothing of it runs and nothing is left of its folder
 * then.
 */
export async function startFullStack({
  dataDir = mkdtempSync(join(tmpdir(), 'sluice-stack-')),
  late = AbortSignal.timeout(100_000),
}: FullStackOptions = {}): Promise<FullStack> {
  try {
    return await start(dataDir, late);
  } catch (error) {
    await stopStack(dataDir);
    removeData(dataDir);
    throw error;
  }
}

async function start(dataDir: string, late: AbortSignal): Promise<FullStack> {
  const settings = stackSettings(ROOT, {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    SLUICE_PORT_BASE: String(await freePortBase()),
    SLUICE_DATA_DIR: dataDir,
    LOG_LEVEL: 'warn',
  });
  const file = await bringUp(settings, late);
  const controlPlane = file.services['control-plane'].url;
  const session = await fetch(`${controlPlane}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ user: file.operator.user, password: file.operator.password, bearer: true }),
    signal: late,
  });
  const { token } = (await session.json()) as { token: string };

  async function call(
    base: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<unknown> {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }
  const api = (method: string, path: string, body?: unknown) =>
    call(controlPlane, method, path, body, { authorization: `Bearer ${token}` });
  const sim = file.services['provider-sim'].url;

  return {
    settings,
    file,
    gatewayUrl: file.services.gateway.url,
    api,
    state: async () => OperatorState.parse(await api('GET', '/api/state')),
    async ledger() {
      const rows: LedgerRow[] = [];
      let cursor: string | null = null;
      do {
        const page: LedgerPage = LedgerPage.parse(
          await api('GET', `/api/ledger?limit=200${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`),
        );
        rows.push(...page.rows);
        cursor = page.next_cursor;
      } while (cursor !== null);
      return rows;
    },
    fault: async (provider, fault) => void (await call(sim, 'POST', `/providers/${provider}/fault`, fault)),
    stats: async (provider) => SimStats.parse(await call(sim, 'GET', `/providers/${provider}/stats`)),
    killPart(name) {
      const part = readState(stackFiles(dataDir).state)?.parts.find((candidate) => candidate.name === name);
      const pid = part?.process?.pid;
      if (pid === undefined) throw new Error(`${name} does not run`);
      process.kill(pid, 'SIGKILL');
    },
    async whileStopped(name, work) {
      const state = readState(stackFiles(dataDir).state);
      const part = state?.parts.find((candidate) => candidate.name === name)?.process;
      if (state === undefined || part === undefined) throw new Error(`${name} does not run`);
      // A supervisor that is held starts nothing.
      process.kill(state.supervisor.pid, 'SIGSTOP');
      try {
        process.kill(part.pid, 'SIGKILL');
        await eventually(() => {
          if (isAlive(part)) throw new Error(`${name} still runs`);
        });
        work();
      } finally {
        process.kill(state.supervisor.pid, 'SIGCONT');
      }
    },
    async stop() {
      await stopStack(dataDir);
      removeData(dataDir);
    },
  };
}
