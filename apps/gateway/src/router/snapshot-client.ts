import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock, RouterSnapshot } from '@sluice/contracts';
import { readSnapshot, type CompiledSnapshot } from '@sluice/routing';
import { writeFileAtomic, type SseEvent } from '@sluice/service-kit';
import { z } from 'zod';
import type { Log } from '../log.ts';
import { followSnapshots } from './snapshot-stream.ts';

export interface SnapshotClientDeps {
  /** Undefined where there is no router: only what is on disk is served by. */
  readonly router: { readonly url: string; readonly token: string } | undefined;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly logger: Log;
  /** Silence after which the connection counts as dead. */
  readonly silenceMs?: number;
  readonly firstRetryMs?: number;
  /** Snapshots are written to disk no more often than this; the first at once. */
  readonly saveEveryMs?: number;
  /** For the jitter, 0 to 1. */
  readonly random?: () => number;
}

/** The gateway's hold on what the router publishes. Nobody waits for it. */
export interface SnapshotClient {
  /** The last snapshot that could be read; undefined before the first. */
  current(): CompiledSnapshot | undefined;
  readonly connected: boolean;
  /** Since the snapshot was last known to be current, milliseconds; 0 before the first. */
  readonly ageMs: number;
  /** Snapshots that came and could not be read. */
  readonly refused: number;
  /** Loads the saved snapshot, at once, and begins to follow the router. */
  start(): void;
  close(): Promise<void>;
}

const SavedFile = z.object({ savedAtMs: z.number(), snapshot: z.unknown() });

/**
 * Follows the router's stream, keeps the last good snapshot in memory and on disk, and goes on with it whatever
 * comes after.
 */
export function createSnapshotClient(deps: SnapshotClientDeps): SnapshotClient {
  const {
    clock,
    logger,
    router,
    silenceMs = 30_000,
    firstRetryMs = 250,
    saveEveryMs = 5_000,
    random = Math.random,
  } = deps;
  const path = join(deps.dataDir, 'router-snapshot.json');
  const abort = new AbortController();
  let compiled: CompiledSnapshot | undefined;
  let heardAtMs = 0;
  let connected = false;
  let refused = 0;
  let running: Promise<void> = Promise.resolve();
  let saved: RouterSnapshot | undefined;
  let savedAtMs = -Infinity;
  let saveTimer: NodeJS.Timeout | undefined;
  let saving: Promise<void> = Promise.resolve();

  /**
   * Writes the snapshot in force; under traffic the router publishes each second, and the disk has better things to
   * do.
   */
  function save(): Promise<void> {
    clearTimeout(saveTimer);
    saveTimer = undefined;
    const snapshot = compiled?.snapshot;
    if (snapshot === undefined || snapshot === saved) return saving;
    saved = snapshot;
    savedAtMs = clock.now();
    const text = JSON.stringify({ savedAtMs: heardAtMs, snapshot });
    saving = saving
      .then(async () => {
        await mkdir(dirname(path), { recursive: true });
        await writeFileAtomic(path, text);
      })
      .catch((error: unknown) =>
        logger.warn(
          { path, reason: String(error) },
          'the snapshot of the router cannot be saved; after a restart without the router the default model would answer',
        ),
      );
    return saving;
  }

  function adopt(next: CompiledSnapshot): void {
    const before = compiled?.snapshot;
    compiled = next;
    const waitMs = before === undefined ? 0 : Math.max(0, savedAtMs + saveEveryMs - clock.now());
    if (waitMs === 0) void save();
    else saveTimer ??= setTimeout(() => void save(), waitMs).unref();
    if (policiesOf(before) !== policiesOf(next.snapshot))
      logger.info(
        { snapshot_id: next.snapshot.snapshot_id, policies: policiesOf(next.snapshot) },
        'deciding by other policies of the router',
      );
  }

  /** A snapshot that cannot be read changes nothing: what is in force is better than what is not understood. */
  function onEvent({ event, data }: SseEvent): void {
    heardAtMs = clock.now();
    if (event !== 'snapshot') return;
    try {
      adopt(readSnapshot(JSON.parse(data)));
    } catch (error) {
      refused += 1;
      logger.error(
        { reason: reasonOf(error), serving: compiled?.snapshot.snapshot_id ?? null },
        'a snapshot of the router cannot be read; deciding by the last one',
      );
    }
  }

  async function follow({ url, token }: { url: string; token: string }): Promise<void> {
    let failures = 0;
    while (!abort.signal.aborted) {
      try {
        await followSnapshots({
          url,
          token,
          silenceMs,
          signal: abort.signal,
          onOpen: () => {
            connected = true;
            failures = 0;
            logger.info(
              { snapshot_id: compiled?.snapshot.snapshot_id ?? null },
              'following the snapshots of the router',
            );
          },
          onEvent,
        });
      } catch (error) {
        if (failures === 0 && !abort.signal.aborted)
          logger.warn(
            { reason: reasonOf(error), serving: compiled?.snapshot.snapshot_id ?? null },
            'the router cannot be followed; deciding by the last snapshot',
          );
      }
      connected = false;
      if (abort.signal.aborted) return;
      await pause(Math.min(LONGEST_RETRY_MS, firstRetryMs * 2 ** failures) * (0.5 + random() / 2), abort.signal);
      failures = Math.min(failures + 1, 10);
    }
  }

  function load(): void {
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch {
      return;
    }
    try {
      const file = SavedFile.parse(JSON.parse(text));
      compiled = readSnapshot(file.snapshot);
      saved = compiled.snapshot;
      heardAtMs = file.savedAtMs;
      logger.info(
        { snapshot_id: compiled.snapshot.snapshot_id },
        'deciding by the saved snapshot until the router answers',
      );
    } catch (error) {
      logger.warn({ path, reason: reasonOf(error) }, 'the saved snapshot of the router cannot be read and is ignored');
    }
  }

  return {
    current: () => compiled,
    get connected() {
      return connected;
    },
    get ageMs() {
      return compiled === undefined ? 0 : Math.max(0, clock.now() - heardAtMs);
    },
    get refused() {
      return refused;
    },
    start() {
      load();
      if (router !== undefined) running = follow(router);
    },
    async close() {
      abort.abort();
      await running;
      await save();
    },
  };
}

const LONGEST_RETRY_MS = 10_000;

/** The policies that decide, as one text: the serving one, and that of a rollout with its stage. */
function policiesOf(snapshot: RouterSnapshot | undefined): string | undefined {
  if (snapshot === undefined) return undefined;
  const { control, candidate } = snapshot;
  return candidate === undefined
    ? control.version
    : `${control.version}, ${candidate.policy.version} in ${candidate.stage}`;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 500) : 'unknown';
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
