import { closeSync, fdatasync, ftruncateSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { CallSettled, CallStarted, Clock, EventOrigin, OutboxStats, UsageOutbox } from '@sluice/contracts';
import type { SpineLogger } from '../spine-logger.ts';
import { lockFolder } from './folder-lock.ts';
import { frameRecords } from './record.ts';
import { newSegment, noteSettled, oldestPendingAt, scanFolder } from './segment.ts';
import { createReader, type OutboxReader } from './segment-reader.ts';
import { readJsonFile, writeFileAtomic } from './small-file.ts';

export interface OutboxOptions {
  /** Its own folder, on a disk that outlives the process; made if absent. */
  readonly dir: string;
  readonly gatewayId: string;
  readonly clock: Clock;
  /** Above this, or this age, `accepting()` is false. Appends of calls already taken still go through. */
  readonly maxBytes: number;
  readonly maxAgeMs: number;
  /** A segment is closed when it has grown to this. */
  readonly segmentBytes: number;
  readonly logger?: SpineLogger;
  /** How often written records are forced to the disk; 100 when absent. */
  readonly fsyncIntervalMs?: number;
  /** Replaced by tests of a full disk. */
  readonly write?: (fd: number, bytes: Buffer, position: number) => number;
}

/** The outbox with what its publisher needs. */
export interface DurableOutbox extends UsageOutbox {
  /** Reads unacknowledged settled records from the oldest on. */
  reader(): OutboxReader;
  markPublished(epoch: number, sequence: number): void;
  /** Calls back after every group commit that holds a settled record; returns the unsubscriber. */
  onSettled(listener: () => void): () => void;
}

export interface OpenedOutbox {
  readonly outbox: DurableOutbox;
  /** Started in an earlier epoch and never settled: to be settled as `interrupted` now. */
  readonly unmatched: readonly CallStarted[];
  /** Settled records still on disk, in order, after `from`. */
  replay(from?: { readonly epoch: number; readonly sequence: number }): Iterable<CallSettled>;
}

type Unstamped = Omit<CallSettled, keyof EventOrigin>;
type Queued =
  | { readonly kind: 'started'; readonly event: CallStarted; readonly done: (origin: EventOrigin | undefined) => void; readonly fail: (error: Error) => void }
  | { readonly kind: 'settled'; readonly event: Unstamped; readonly done: (origin: EventOrigin) => void; readonly fail: (error: Error) => void };

const PROBE_INTERVAL_MS = 1000;
const PROBE_BYTES = 64 * 1024;

/**
 * Opens the durable record of a gateway and begins a new epoch.
 *
 * Appends of one turn of the event loop share one `write()`; they resolve when it has returned. A write that fails is cut off again,
 * its appends reject, no sequence is used up, and `accepting()` stays false until a probe can be written.
 *
 * @throws Error when another living process has the folder.
 */
export function openOutbox(options: OutboxOptions): OpenedOutbox {
  const { dir, gatewayId, clock, logger } = options;
  const write = options.write ?? ((fd: number, bytes: Buffer, position: number) => writeSync(fd, bytes, 0, bytes.length, position));
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const unlock = lockFolder(dir);

  const { segments, open: openedStarts, damaged } = scanFolder(dir);
  if (damaged.length > 0) logger?.error({ damaged }, 'outbox segments are damaged inside; what follows the damage is lost');
  const unmatched = [...openedStarts.values()].map((start) => start.event);
  /** Request id → segment that holds its start. */
  const open = new Map([...openedStarts].map(([id, start]) => [id, start.segment]));

  const epoch = Math.max(Number((readJsonFile(join(dir, 'epoch.json')) as { epoch?: number } | undefined)?.epoch ?? 0), segments.at(-1)?.epoch ?? 0) + 1;
  writeFileAtomic(join(dir, 'epoch.json'), JSON.stringify({ epoch }));
  const ackPath = join(dir, 'acknowledged.json');
  const acked = new Map(Object.entries((readJsonFile(ackPath) ?? {}) as Record<string, number>).map(([key, value]) => [Number(key), value]));
  const lastOf = new Map<number, number>();
  for (const segment of segments) if (segment.lastSequence > 0) lastOf.set(segment.epoch, segment.lastSequence);

  const originText = `,"gateway_id":${JSON.stringify(gatewayId)},"epoch":${epoch},"sequence":`;
  const published = new Map<number, number>();
  const listeners = new Set<() => void>();
  let queue: Queued[] = [];
  let scheduled = false;
  let sequence = 0;
  let bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  let dirty = false;
  let syncing = false;
  let acksDirty = false;
  let failure: Error | undefined;
  let probedAt = 0;
  let closed = false;

  let active = newSegment(dir, epoch, 1);
  let fd = openSync(active.path, 'w', 0o600);
  segments.push(active);

  const roll = (): void => {
    const previous = fd;
    const next = newSegment(dir, epoch, active.index + 1);
    fd = openSync(next.path, 'w', 0o600);
    fdatasync(previous, () => closeSync(previous));
    active = next;
    segments.push(active);
  };

  const writeAll = (frames: Buffer): void => {
    let at = 0;
    while (at < frames.length) {
      const count = write(fd, frames.subarray(at), active.bytes + at);
      if (count <= 0) throw new Error('the disk took no bytes');
      at += count;
    }
  };

  const ackedOf = (of: number): number => acked.get(of) ?? 0;

  const prune = (): void => {
    for (let head = segments[0]; head !== undefined && head !== active; head = segments[0]) {
      if (head.openStarts > 0 || head.lastSequence > ackedOf(head.epoch)) return;
      rmSync(head.path, { force: true });
      bytes -= head.bytes;
      segments.shift();
    }
  };

  const note = (item: Queued, origin: number): void => {
    if (item.kind === 'started') {
      active.openStarts += 1;
      open.set(item.event.request_id, active);
      return;
    }
    noteSettled(active, origin, clock.now());
    const start = open.get(item.event.request_id);
    if (start === undefined) return;
    start.openStarts -= 1;
    open.delete(item.event.request_id);
  };

  const flush = (): void => {
    scheduled = false;
    const batch = queue;
    queue = [];
    if (batch.length === 0) return;
    const first = sequence;
    try {
      if (active.bytes >= options.segmentBytes) roll();
      const frames = frameRecords(
        batch.map((item) => (item.kind === 'started' ? JSON.stringify(item.event) : `${JSON.stringify(item.event).slice(0, -1)}${originText}${(sequence += 1)}}`)),
      );
      writeAll(frames);
      active.bytes += frames.length;
      bytes += frames.length;
    } catch (error) {
      sequence = first;
      failed(error instanceof Error ? error : new Error(String(error)));
      for (const item of batch) item.fail(failure as Error);
      return;
    }
    dirty = true;
    let origin = first;
    for (const item of batch) {
      if (item.kind === 'settled') origin += 1;
      note(item, origin);
      if (item.kind === 'settled') item.done({ gateway_id: gatewayId, epoch, sequence: origin });
      else item.done(undefined);
    }
    if (origin > first) {
      lastOf.set(epoch, origin);
      for (const listener of listeners) listener();
    }
  };

  const failed = (error: Error): void => {
    if (failure === undefined) logger?.error({ err: error }, 'the outbox cannot be written; new calls are refused');
    failure = error;
    probedAt = clock.monotonic();
    try {
      ftruncateSync(fd, active.bytes);
    } catch (cause) {
      logger?.error({ err: cause }, 'a torn outbox record could not be cut off; it is overwritten by the next one');
    }
  };

  const probe = (): void => {
    if (failure === undefined || clock.monotonic() - probedAt < PROBE_INTERVAL_MS) return;
    probedAt = clock.monotonic();
    const path = join(dir, 'probe');
    try {
      if (options.write === undefined) writeFileSync(path, Buffer.alloc(PROBE_BYTES));
      else write(fd, Buffer.alloc(0), active.bytes);
      failure = undefined;
      logger?.info({}, 'the outbox can be written again');
    } catch (error) {
      failure = error as Error;
    } finally {
      rmSync(path, { force: true });
    }
  };

  const saveAcks = (): void => {
    if (!acksDirty) return;
    acksDirty = false;
    const living = new Set(segments.map((segment) => segment.epoch));
    try {
      writeFileAtomic(ackPath, JSON.stringify(Object.fromEntries([...acked].filter(([of]) => living.has(of)))));
    } catch (error) {
      acksDirty = true;
      logger?.warn({ err: error }, 'acknowledgements could not be saved; they are asked for again');
    }
  };

  const tick = (): void => {
    probe();
    if (!dirty || syncing) return;
    dirty = false;
    syncing = true;
    fdatasync(fd, (error) => {
      syncing = false;
      if (error !== null && error.code !== 'EBADF') failed(error);
    });
  };
  const syncTimer = setInterval(tick, options.fsyncIntervalMs ?? 100);
  const ackTimer = setInterval(saveAcks, 1000);
  syncTimer.unref();
  ackTimer.unref();

  const enqueue = (item: Queued): void => {
    if (closed) return item.fail(new Error('the outbox is closed'));
    queue.push(item);
    if (scheduled) return;
    scheduled = true;
    setImmediate(flush);
  };

  const oldestAgeMs = (): number => {
    for (const segment of segments) {
      const at = oldestPendingAt(segment, ackedOf(segment.epoch));
      if (at !== undefined) return Math.max(0, clock.now() - at);
    }
    return 0;
  };

  const wanted = (of: number, seq: number): boolean => seq > ackedOf(of);

  const outbox: DurableOutbox = {
    gatewayId,
    epoch,
    appendStarted: (event) => new Promise((resolve, reject) => enqueue({ kind: 'started', event, done: () => resolve(), fail: reject })),
    appendSettled: (event) => new Promise((resolve, reject) => enqueue({ kind: 'settled', event, done: resolve, fail: reject })),
    acknowledge: (of, seq) => {
      if (seq > (lastOf.get(of) ?? 0)) {
        if (lastOf.has(of) || of === epoch) logger?.warn({ epoch: of, sequence: seq }, 'the ledger acknowledged more than this outbox wrote; ignored');
        return;
      }
      if (seq <= ackedOf(of)) return;
      acked.set(of, seq);
      acksDirty = true;
      prune();
    },
    accepting: () => {
      if (closed) return false;
      probe();
      return failure === undefined && bytes < options.maxBytes && oldestAgeMs() <= options.maxAgeMs;
    },
    get stats(): OutboxStats {
      let pending = 0;
      for (const [of, last] of lastOf) pending += Math.max(0, last - ackedOf(of));
      return { epoch, lastSequence: sequence, publishedSequence: published.get(epoch) ?? 0, ackedSequence: ackedOf(epoch), pending, oldestAgeMs: oldestAgeMs(), bytes, segments: segments.length };
    },
    reader: () => createReader(segments, wanted),
    markPublished: (of, seq) => {
      if (seq > (published.get(of) ?? 0)) published.set(of, seq);
    },
    onSettled: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => {
      if (closed) return;
      flush();
      closed = true;
      clearInterval(syncTimer);
      clearInterval(ackTimer);
      await new Promise<void>((resolve) => fdatasync(fd, () => resolve()));
      closeSync(fd);
      saveAcks();
      unlock();
    },
  };

  return {
    outbox,
    unmatched,
    *replay(from) {
      const reader = createReader(segments, (of, seq) => from === undefined || of > from.epoch || (of === from.epoch && seq > from.sequence));
      for (let batch = reader.next(256); batch.length > 0; batch = reader.next(256)) yield* batch;
    },
  };
}
