import { join } from 'node:path';
import { ChaosOrder, ConfigPatch, type Clock } from '@sluice/contracts';
import type { SseEvent } from '@sluice/service-kit';
import { z } from 'zod';
import type { CompiledConfig } from '../compiled-config.ts';
import type { Log } from '../log.ts';
import { createCompiler } from './compile.ts';
import { readConfigRows, type ConfigRows } from './config-rows.ts';
import { runConfigStream, StreamRefused } from './config-stream.ts';
import { loadSnapshot, saveSnapshot } from './snapshot-file.ts';
import { createSnapshotLines } from './snapshot-lines.ts';

const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 5_000;

/** The ledger holds everything of this gateway's epoch up to `sequence`. */
export interface Watermark {
  readonly epoch: number;
  readonly sequence: number;
}

const WatermarkEvent = z.object({ gateway_id: z.string(), epoch: z.int(), sequence: z.int() });

export interface ConfigClientDeps {
  /** Base URL of the control plane. */
  readonly url: string;
  readonly token: string;
  readonly gatewayId: string;
  readonly cellId: string;
  readonly limitStore: 'memory' | 'valkey';
  /** `snapshot.json` is kept here. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly logger: Log;
  /** Called for this gateway's own watermarks only. */
  readonly onWatermark?: (watermark: Watermark) => void;
  /** Called with what the control plane orders for a chaos test; absent where chaos is not enabled. */
  readonly onChaos?: (order: ChaosOrder) => void;
  /** Called with each new version that is in force. */
  readonly onChange?: (config: CompiledConfig) => void;
  /** Older configuration than this is not served by; unlimited when absent. */
  readonly maxAgeMs?: number;
  readonly pingTimeoutMs?: number;
  /** Changes are written to disk together, this long after the first. */
  readonly saveDelayMs?: number;
  /** For the jitter, 0 to 1. */
  readonly random?: () => number;
}

/** The gateway's hold on its configuration: in memory, followed by a stream, and on disk for the next boot. */
export interface ConfigClient {
  /**
   * Undefined before the first snapshot, when the last is older than allowed, and while another gateway serves the
   * cell.
   */
  current(): CompiledConfig | undefined;
  /** Version in force; 0 before the first. */
  readonly version: number;
  readonly connected: boolean;
  /** Since the configuration was last known to be current; 0 before the first. */
  readonly ageMs: number;
  /** Why the control plane lets this gateway not serve; undefined when it does, or was not heard. */
  readonly refused: string | undefined;
  /** Resolves when the control plane was heard, or could not be reached, once; or after `timeoutMs`. */
  tried(timeoutMs: number): Promise<void>;
  /** Loads the saved snapshot, at once, and begins to follow the stream. */
  start(): void;
  /** Resolves when a configuration is in force, true, or after `timeoutMs`, false. */
  ready(timeoutMs: number): Promise<boolean>;
  /** Ends the stream and writes what is not on disk yet. */
  close(): Promise<void>;
}

export function createConfigClient(deps: ConfigClientDeps): ConfigClient {
  const { clock, logger, gatewayId, maxAgeMs, pingTimeoutMs = 15_000, saveDelayMs = 250, random = Math.random } = deps;
  const path = join(deps.dataDir, 'snapshot.json');
  const compile = createCompiler({ logger });
  const abort = new AbortController();
  const waiting = new Set<() => void>();
  let rows: ConfigRows | undefined;
  let config: CompiledConfig | undefined;
  let heardAtMs = 0;
  let connected = false;
  /** Set after a gap or a bad patch: only a whole snapshot helps. */
  let needsSnapshot = false;
  let refused: string | undefined;
  const firstTry = Promise.withResolvers<void>();
  let running: Promise<void> = Promise.resolve();
  /** The snapshot that comes in, row by row; another one serves until it is complete. */
  let arriving = createSnapshotLines(logger);
  let saveTimer: NodeJS.Timeout | undefined;
  let saving: Promise<void> = Promise.resolve();

  function adopt(next: ConfigRows): void {
    rows = next;
    config = compile(next);
    for (const wake of waiting) wake();
    waiting.clear();
    deps.onChange?.(config);
  }

  function save(): Promise<void> {
    clearTimeout(saveTimer);
    saveTimer = undefined;
    const value = rows;
    if (value === undefined) return saving;
    saving = saving
      .then(() => saveSnapshot(path, { savedAtMs: heardAtMs, rows: value }))
      .catch((error: unknown) =>
        logger.warn(
          { path, reason: String(error) },
          'the configuration cannot be saved; this gateway could not boot without the control plane',
        ),
      );
    return saving;
  }

  function changed(next: ConfigRows): void {
    adopt(next);
    saveTimer ??= setTimeout(save, saveDelayMs).unref();
  }

  function onEvent({ event, data }: SseEvent): void {
    heardAtMs = clock.now();
    switch (event) {
      case 'snapshot': {
        const read = arriving.finish();
        needsSnapshot = false;
        changed(read ?? readConfigRows(JSON.parse(data), logger));
        return;
      }
      case 'patch': {
        const patch = ConfigPatch.parse(JSON.parse(data));
        if (rows === undefined) throw new RangeError('a patch came before a snapshot');
        if (patch.version <= rows.version) return;
        rows.apply(patch);
        changed(rows);
        return;
      }
      case 'watermark': {
        const mark = WatermarkEvent.parse(JSON.parse(data));
        if (mark.gateway_id === gatewayId) deps.onWatermark?.(mark);
        return;
      }
      case 'chaos':
        obey(data);
        return;
      default:
    }
  }

  /** An order that this gateway does not know is no reason to break the stream. */
  function obey(data: string): void {
    const order = ChaosOrder.safeParse(JSON.parse(data)).data;
    if (order === undefined) logger.warn({ data: data.slice(0, 200) }, 'a chaos order that is not known here');
    else deps.onChaos?.(order);
  }

  /** After what cannot be read only a whole snapshot helps. */
  function orAskAgain<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      needsSnapshot = true;
      throw error;
    }
  }

  async function follow(): Promise<void> {
    let failures = 0;
    while (!abort.signal.aborted) {
      try {
        arriving = createSnapshotLines(logger);
        await runConfigStream({
          url: deps.url,
          token: deps.token,
          gatewayId,
          cellId: deps.cellId,
          limitStore: deps.limitStore,
          since: needsSnapshot ? 0 : (rows?.version ?? 0),
          pingTimeoutMs,
          signal: abort.signal,
          onOpen: () => {
            connected = true;
            refused = undefined;
            firstTry.resolve();
            failures = 0;
            heardAtMs = clock.now();
            logger.info({ version: rows?.version ?? 0 }, 'following the configuration stream');
          },
          takeLine: (event, line) => event === 'snapshot' && orAskAgain(() => arriving.take(line)),
          onEvent: (event) => orAskAgain(() => onEvent(event)),
        });
      } catch (error) {
        if (error instanceof StreamRefused) {
          if (refused === undefined)
            logger.error(
              { reason: error.message },
              'this gateway must not serve its cell; it refuses calls until it may',
            );
          refused = error.message;
        } else if (!abort.signal.aborted) {
          logger.warn(
            { reason: error instanceof Error ? error.message.slice(0, 300) : 'unknown' },
            'the configuration stream is broken; serving by the last version',
          );
        }
      }
      firstTry.resolve();
      connected = false;
      if (abort.signal.aborted) return;
      await pause(Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures) * (0.5 + random() / 2), abort.signal);
      failures = Math.min(failures + 1, 10);
    }
  }

  const client: ConfigClient = {
    current() {
      if (refused !== undefined) return undefined;
      if (maxAgeMs !== undefined && clock.now() - heardAtMs > maxAgeMs) return undefined;
      return config;
    },
    get refused() {
      return refused;
    },
    tried: (timeoutMs) => Promise.race([firstTry.promise, pause(timeoutMs, abort.signal)]),
    get version() {
      return config?.version ?? 0;
    },
    get connected() {
      return connected;
    },
    get ageMs() {
      return config === undefined ? 0 : Math.max(0, clock.now() - heardAtMs);
    },
    start() {
      const saved = loadSnapshot(path, logger);
      if (saved !== undefined) {
        heardAtMs = saved.savedAtMs;
        adopt(saved.rows);
        logger.info(
          { version: saved.rows.version },
          'serving by the saved configuration until the control plane answers',
        );
      }
      running = follow();
    },
    ready(timeoutMs) {
      if (config !== undefined) return Promise.resolve(true);
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          waiting.delete(wake);
          resolve(false);
        }, timeoutMs);
        const wake = (): void => {
          clearTimeout(timer);
          resolve(true);
        };
        waiting.add(wake);
      });
    },
    async close() {
      abort.abort();
      await running;
      await (saveTimer === undefined ? saving : save());
    },
  };
  return client;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
