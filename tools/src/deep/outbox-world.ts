import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { LedgerPage, LOCAL_REGION, SERVICE_TOKEN_ENV, type OutboxStats } from '@sluice/contracts';
import type { FullStack } from '../e2e/full-stack.ts';
import { loadOrCreateSecrets } from '../stack/secrets.ts';
import { stackFiles } from '../stack/settings.ts';
import { DRIVEN_WORKSPACE } from './outbox-calls.ts';
import type { DriverSettings } from './outbox-driver.ts';

const DRIVER = fileURLToPath(new URL('outbox-driver.ts', import.meta.url));

/** What clients of the driver saw, over all of its lives. */
export interface Seen {
  readonly answered: Set<string>;
  refused: number;
  failed: number;
  interrupted: number;
}

export interface Driver {
  /** The epoch that it began. */
  readonly epoch: number;
  command(line: string): void;
  stats(): Promise<OutboxStats>;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** A driver with a folder and a gateway id of its own beside a running stack, and the ledger to compare with. */
export interface OutboxWorld {
  readonly seen: Seen;
  boot(over?: Partial<DriverSettings>): Promise<Driver>;
  /** Boots it and kills it within so many milliseconds of its first look at its disk, ready or not. */
  dieOpening(withinMs: number): Promise<void>;
  /** Forgets the disk. */
  loseDisk(): void;
  /** Lets the driver rest, waits until the ledger has everything. @throws Error naming what is missing or twice. */
  reconcile(driver: Driver, timeoutMs: number): Promise<string>;
  close(): Promise<void>;
}

export function createOutboxWorld(stack: FullStack, gatewayId: string): OutboxWorld {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-outbox-'));
  const seen: Seen = { answered: new Set(), refused: 0, failed: 0, interrupted: 0 };
  const token = loadOrCreateSecrets(stackFiles(stack.settings.dataDir).secrets).tokens[
    SERVICE_TOKEN_ENV.gatewayToControlPlane
  ] as string;
  const children = new Set<ChildProcess>();

  const rowsOfDriver = async (): Promise<Map<string, number>> => {
    const rows = new Map<string, number>();
    let cursor: string | null = null;
    do {
      const page: LedgerPage = LedgerPage.parse(
        await stack.api(
          'GET',
          `/api/ledger?workspace=${DRIVEN_WORKSPACE}&limit=1000${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        ),
      );
      for (const row of page.rows)
        if (row.gateway_id === gatewayId) rows.set(row.request_id, (rows.get(row.request_id) ?? 0) + 1);
      cursor = page.next_cursor;
    } while (cursor !== null);
    return rows;
  };

  const start = (over: Partial<DriverSettings> = {}) => {
    const settings: DriverSettings = {
      dir,
      gatewayId,
      token,
      spineUrl: stack.file.services.spine.url,
      region: LOCAL_REGION,
      controlPlaneUrl: stack.file.services['control-plane'].url,
      clockMs: 0,
      calls: 16,
      callMs: 10,
      segmentBytes: 64 * 1024,
      ...over,
    };
    const child = spawn(
      process.execPath,
      ['--conditions=@sluice/source', '--disable-warning=ExperimentalWarning', DRIVER, JSON.stringify(settings)],
      { stdio: ['pipe', 'pipe', 'pipe'] },
    );
    children.add(child);
    const ended = new Promise<void>((resolve) => child.once('close', () => (children.delete(child), resolve())));
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2000)));
    const on = { stats: (_stats: OutboxStats): void => undefined };
    const opening = Promise.withResolvers<void>();
    const ready = Promise.withResolvers<number>();
    void ended.then(() => {
      const error = new Error(`the driver ended: ${said}`);
      opening.reject(error);
      ready.reject(error);
    });
    // Who waits for one of them hears of the end; who waits for neither must not fall for it.
    for (const { promise } of [opening, ready]) promise.catch(() => undefined);
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [word, value, more] = line.split(' ');
      if (word === 'answered' && value?.length === 30) seen.answered.add(value);
      else if (word === 'refused') seen.refused += 1;
      else if (word === 'failed') seen.failed += 1;
      else if (word === 'stats') on.stats(JSON.parse(line.slice(6)) as OutboxStats);
      else if (word === 'opening') opening.resolve();
      else if (word === 'ready') {
        seen.interrupted += Number(more);
        ready.resolve(Number(value));
      }
    });
    const kill = async (): Promise<void> => {
      child.kill('SIGKILL');
      await ended;
    };
    return { child, ended, on, opening: opening.promise, ready: ready.promise, kill };
  };

  return {
    seen,
    async boot(over = {}) {
      const { child, ended, on, ready, kill } = start(over);
      const epoch = await ready;
      const command = (line: string): void => void child.stdin.write(`${line}\n`);
      return {
        epoch,
        command,
        stats: () =>
          new Promise((resolve) => {
            on.stats = resolve;
            command('stats');
          }),
        kill,
        async stop() {
          command('stop');
          await ended;
        },
      };
    },
    async dieOpening(withinMs) {
      const { opening, kill } = start();
      await opening;
      await sleep(Math.random() * withinMs);
      await kill();
    },
    loseDisk() {
      rmSync(dir, { recursive: true, force: true });
    },
    async reconcile(driver, timeoutMs) {
      driver.command('rest');
      const until = performance.now() + timeoutMs;
      for (let pending = 1; pending > 0;) {
        await sleep(200);
        ({ pending } = await driver.stats());
        if (performance.now() > until)
          throw new Error(`${pending} records are not acknowledged after ${Math.round(timeoutMs / 1000)} s`);
      }
      const rows = await rowsOfDriver();
      const missing = [...seen.answered].filter((id) => !rows.has(id));
      const twice = [...rows].filter(([, count]) => count !== 1).map(([id]) => id);
      if (missing.length > 0)
        throw new Error(`${missing.length} answered calls are not in the ledger, such as ${missing[0]}`);
      if (twice.length > 0)
        throw new Error(`${twice.length} calls are in the ledger more than once, such as ${twice[0]}`);
      if (seen.failed > 0) throw new Error(`${seen.failed} calls that were taken could not be recorded`);
      return `${seen.answered.size} answered, all in the ledger once; ${seen.interrupted} interrupted, ${seen.refused} refused`;
    },
    async close() {
      await Promise.all(
        [...children].map(
          (child) => new Promise<void>((resolve) => (child.once('close', () => resolve()), child.kill('SIGKILL'))),
        ),
      );
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
