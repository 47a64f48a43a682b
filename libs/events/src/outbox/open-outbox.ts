import { mkdirSync, rmSync } from 'node:fs';
import type { CallSettled, CallStarted, EventOrigin, OutboxStats } from '@sluice/contracts';
import { createAcknowledgements } from './acknowledgements.ts';
import type { DurableOutbox, OpenedOutbox, OutboxOptions } from './durable-outbox.ts';
import { beginEpoch } from './epoch.ts';
import { lockFolder } from './folder-lock.ts';
import { nodeFiles } from './outbox-files.ts';
import { BYTES_PER_OPEN_CALL, createOutboxHealth } from './outbox-health.ts';
import { RecordWriter } from './record-writer.ts';
import { scanFolder } from './scan-folder.ts';
import { noteSettled, type Segment } from './segment.ts';
import { createReader } from './segment-reader.ts';
import { createSegmentWriter } from './segment-writer.ts';
import { createTenantShares } from './tenant-shares.ts';

type Unstamped = Omit<CallSettled, keyof EventOrigin>;
type Queued =
  | {
      readonly kind: 'started';
      readonly event: CallStarted;
      readonly done: (origin: undefined) => void;
      readonly fail: (error: Error) => void;
    }
  | {
      readonly kind: 'settled';
      readonly event: Unstamped;
      readonly done: (origin: EventOrigin | undefined) => void;
      readonly fail: (error: Error) => void;
    };

const SEGMENT_BYTES = 8 * 1024 * 1024;
const SEGMENTS_AT_LEAST = 16;
const SLOW_TICK_MS = 1000;

/**
 * Opens the durable record of a gateway and begins a new epoch.
 *
 * Appends of one turn of the event loop share one `write()`; they resolve when it has returned (or when it is on
 * the disk, by setting). A write that fails is cut off again, its appends reject, no sequence is used up, and
 * `accepting()` stays false until writing works.
 *
 * @throws Error when another living process has the folder.
 */
export function openOutbox(options: OutboxOptions): OpenedOutbox {
  const { dir, gatewayId, clock, logger, files = nodeFiles, fsyncIntervalMs = 100, atBound = 'refuse' } = options;
  const segmentBytes = options.segmentBytes ?? Math.min(SEGMENT_BYTES, Math.ceil(options.maxBytes / SEGMENTS_AT_LEAST));
  const withLogger = logger === undefined ? {} : { logger };
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const lock = lockFolder(dir);

  const scan = scanFolder(dir, clock);
  const { segments, lastOf } = scan;
  if (scan.damaged.length > 0)
    logger?.error(
      { damaged: scan.damaged, recovered: scan.strays.length },
      'outbox segments are damaged inside; what lay in the damage is lost, what follows it is not',
    );
  const firstOnDisk = firstSequences(segments);
  const { epoch, first } = beginEpoch(dir, segments.at(-1)?.epoch ?? 0, clock);
  const acks = createAcknowledgements({ dir, epoch, segments, lastOf, clock, ...withLogger });
  const shares = createTenantShares(
    segments,
    Math.max((options.tenantShare ?? 1) * options.maxBytes, 2 * segmentBytes),
    options.dedicatedTo,
  );
  /** Started and not settled, with the segment that holds the start. */
  const open = new Map<string, { segment: Segment; readonly event: CallStarted }>(scan.open);
  const unmatched = [...open.values()].map((start) => start.event);

  const writer = createSegmentWriter({
    dir,
    epoch,
    segmentBytes,
    files,
    ...withLogger,
    reserveBytes: () => open.size * BYTES_PER_OPEN_CALL,
    onSegment: (segment) => segments.push(segment),
  });
  const health = createOutboxHealth({ writer, clock, ...withLogger });
  const published = new Map<number, number>();
  const listeners = new Set<() => void>();
  /** Calls that were let through without a record and run still. */
  const unmetered = new Set<string>();
  const records = new RecordWriter();
  let sizes: number[] = [];
  let queue: Queued[] = [];
  /**
   * Starts that are written anew so that their segment can go; before everything else of a batch, or one could
   * follow its end.
   */
  let carried: CallStarted[] = [];
  let scheduled = false;
  let sequence = 0;
  let syncedSequence = 0;
  let bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  let unmeteredCalls = 0;
  let dirty = false;
  let syncing: Promise<void> | undefined;
  let awaitingSync: (() => void)[] = [];
  let closed = false;

  const noteStarted = (segment: Segment, event: CallStarted, size: number): void => {
    const before = open.get(event.request_id);
    if (before !== undefined) before.segment.openStarts -= 1;
    segment.openStarts += 1;
    open.set(event.request_id, { segment, event });
    shares.add(segment, event.tenant_id, size);
  };

  const noteEnded = (segment: Segment, event: Unstamped, at: number, size: number): void => {
    noteSettled(segment, at, clock.monotonic());
    shares.add(segment, event.tenant_id, size);
    const start = open.get(event.request_id);
    if (start === undefined) return;
    start.segment.openStarts -= 1;
    open.delete(event.request_id);
  };

  const writeBatch = (starts: readonly CallStarted[], batch: readonly Queued[]): void => {
    records.clear();
    sizes = [];
    let next = sequence;
    for (const event of starts) sizes.push(records.addStarted(event));
    for (const item of batch)
      sizes.push(
        item.kind === 'started'
          ? records.addStarted(item.event)
          : records.addSettled(item.event, gatewayId, epoch, (next += 1)),
      );
    writer.write(records);
    bytes += records.length;
    const segment = writer.active as Segment;
    let at = 0;
    for (const event of starts) noteStarted(segment, event, sizes[at++] ?? 0);
    for (const item of batch) {
      if (item.kind === 'started') noteStarted(segment, item.event, sizes[at] ?? 0);
      else noteEnded(segment, item.event, (sequence += 1), sizes[at] ?? 0);
      at += 1;
    }
    if (sequence > 0) lastOf.set(epoch, sequence);
    dirty = true;
  };

  const flush = (): void => {
    scheduled = false;
    const [batch, starts] = [queue, carried.filter((event) => open.has(event.request_id))];
    queue = [];
    carried = [];
    if (batch.length === 0 && starts.length === 0) return;
    const before = sequence;
    try {
      writeBatch(starts, batch);
    } catch (error) {
      health.failed(error);
      for (const item of batch) giveUp(item, error);
      return;
    }
    const resolve = (): void => {
      let origin = before;
      for (const item of batch) {
        if (item.kind === 'settled') item.done({ gateway_id: gatewayId, epoch, sequence: (origin += 1) });
        else item.done(undefined);
      }
    };
    if (fsyncIntervalMs > 0) return resolve();
    awaitingSync.push(resolve);
    void sync();
  };

  const giveUp = (item: Queued, error: unknown): void => {
    if (atBound === 'refuse') return item.fail(error instanceof Error ? error : new Error(String(error)));
    if (item.kind === 'started') unmetered.add(item.event.request_id);
    unmeteredCalls += 1;
    item.done(undefined);
  };

  /**
   * Forces what is written to the disk; again at once only while somebody waits for more, because each time costs
   * the disk a turn.
   */
  const sync = (): Promise<void> => {
    syncing ??= (async () => {
      for (let due = dirty; due; due = dirty && awaitingSync.length > 0) {
        const [upTo, waiting] = [sequence, awaitingSync];
        dirty = false;
        awaitingSync = [];
        try {
          await writer.sync();
          if (upTo > syncedSequence) {
            syncedSequence = upTo;
            for (const listener of listeners) listener();
          }
        } catch (error) {
          // The records are written and may yet reach the disk; a call is not failed for that, no new one is taken.
          health.failed(error);
        }
        for (const resolve of waiting) resolve();
      }
    })().finally(() => {
      syncing = undefined;
    });
    return syncing;
  };

  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(flush);
  };

  const enqueue = (item: Queued): void => {
    if (closed) return item.fail(new Error('the outbox is closed'));
    queue.push(item);
    schedule();
  };

  /**
   * Deletes what the ledger has, oldest first. What only open calls hold back is written anew, so that it can go
   * next time.
   */
  const prune = (): void => {
    for (let head = segments[0]; head !== undefined && head !== writer.active; head = segments[0]) {
      if (head.lastSequence > acks.of(head.epoch)) return;
      // The last record of a running epoch stays, so that a boot can tell from which sequence on the disk holds
      // everything.
      if (head.epoch === epoch && segments.length === 2 && writer.active?.lastSequence === 0) return;
      if (head.openStarts > 0) {
        if (carried.length > 0 || segments.length < 3) return;
        for (const { segment, event } of open.values()) if (segment === head) carried.push(event);
        return schedule();
      }
      rmSync(head.path, { force: true });
      bytes -= head.bytes;
      shares.drop(head);
      segments.shift();
    }
  };

  /** Behind a loss, and written anew in this epoch. */
  const isStray = (of: number, at: number): boolean => at > (lastOf.get(of) ?? 0);
  const bounded = (): boolean => bytes >= options.maxBytes || acks.oldestAgeMs() > options.maxAgeMs;
  const roomFor = (tenantId: string | undefined): boolean =>
    !closed && health.well(open.size) && !bounded() && (tenantId === undefined || !shares.full(tenantId));

  const slowTick = (): void => {
    if (!lock.beat()) health.lost('another process has taken the outbox folder over');
    void health.tend();
    acks.save();
    prune();
  };
  const timers = [setInterval(slowTick, SLOW_TICK_MS).unref()];
  if (fsyncIntervalMs > 0) timers.push(setInterval(() => void sync(), fsyncIntervalMs).unref());

  const outbox: DurableOutbox = {
    gatewayId,
    epoch,
    appendStarted: (event) => {
      if (atBound === 'serve' && !roomFor(event.tenant_id)) {
        unmetered.add(event.request_id);
        unmeteredCalls += 1;
        return Promise.resolve();
      }
      return new Promise<undefined>((done, fail) => enqueue({ kind: 'started', event, done, fail }));
    },
    appendSettled: (event) => {
      if (unmetered.size > 0 && unmetered.delete(event.request_id)) return Promise.resolve(undefined);
      return new Promise((done, fail) => enqueue({ kind: 'settled', event, done, fail }));
    },
    acknowledge: (of, upTo) => {
      if (acks.acknowledge(of, upTo)) prune();
    },
    accepting: (tenantId) => (atBound === 'serve' ? !closed : roomFor(tenantId)),
    shareFull: (tenantId) => shares.full(tenantId),
    get stats(): OutboxStats {
      return {
        epoch,
        lastSequence: sequence,
        publishedSequence: published.get(epoch) ?? 0,
        ackedSequence: acks.of(epoch),
        pending: acks.pending,
        oldestAgeMs: acks.oldestAgeMs(),
        bytes,
        segments: segments.length,
        unmeteredCalls,
      };
    },
    reader: () =>
      createReader(segments, acks.of, (of, at) =>
        at <= acks.of(of) || isStray(of, at) ? 'skip' : of === epoch && at > syncedSequence ? 'stop' : 'take',
      ),
    firstPending: acks.first,
    markPublished: (of, at) => {
      if (at > (published.get(of) ?? 0)) published.set(of, at);
    },
    onSettled: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => {
      if (closed) return;
      flush();
      closed = true;
      for (const timer of timers) clearInterval(timer);
      await syncing;
      await sync();
      await writer
        .close()
        .catch((error: unknown) => logger?.error({ err: error }, 'the last outbox segment may not be on the disk'));
      acks.save();
      lock.release();
    },
  };

  for (const stray of scan.strays) {
    queue.push({ kind: 'settled', event: withoutOrigin(stray), done: () => undefined, fail: () => undefined });
  }
  health.begin();
  flush();
  return {
    outbox,
    reopened: !first,
    unmatched,
    firstOnDisk,
    *replay() {
      const reader = createReader(
        segments,
        () => 0,
        (of, at) => (isStray(of, at) ? 'skip' : 'take'),
      );
      for (let batch = reader.next(256); batch.length > 0; batch = reader.next(256)) yield* batch;
    },
  };
}

function firstSequences(segments: readonly Segment[]): Map<number, number> {
  const out = new Map<number, number>();
  for (const { epoch, firstSequence } of segments)
    if (firstSequence > 0 && !out.has(epoch)) out.set(epoch, firstSequence);
  return out;
}

function withoutOrigin({ gateway_id: _gateway, epoch: _epoch, sequence: _sequence, ...event }: CallSettled): Unstamped {
  return event;
}
