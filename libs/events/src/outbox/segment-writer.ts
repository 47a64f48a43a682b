import { openSync, rmSync } from 'node:fs';
import type { SpineLogger } from '../spine-logger.ts';
import { abandonFile, finishFile, type OutboxFiles } from './outbox-files.ts';
import type { RecordWriter } from './record-writer.ts';
import { newSegment, type Segment } from './segment.ts';

export interface SegmentWriterOptions {
  readonly dir: string;
  readonly epoch: number;
  readonly segmentBytes: number;
  readonly files: OutboxFiles;
  readonly logger?: SpineLogger;
  /** What the calls that run may still need; allocated ahead, beside half a segment and more. */
  readonly reserveBytes: () => number;
  /** A segment became the one that is written to. */
  readonly onSegment: (segment: Segment) => void;
}

export interface SegmentWriter {
  /** What is written to; undefined while the disk gives no space. */
  readonly active: Segment | undefined;
  /** Allocated bytes that nothing has used yet, in this segment and those prepared behind it. */
  readonly freeBytes: number;
  /** No further segment could be allocated when it was last tried. */
  readonly starved: boolean;
  /**
   * Appends the records, in a new segment where they do not fit.
   * @throws when the disk takes them not; nothing of them counts then.
   */
  write(records: RecordWriter): void;
  /** Takes the first segment. @throws when the disk has no space for it. */
  begin(): void;
  /** Tries whether writing works, in space that no record uses. @throws when it does not. */
  probe(): void;
  /** Allocates what should be ready ahead; harmless when that is done or under way. */
  prepare(): Promise<void>;
  /**
   * Allocates one more segment at once, because the one that is being prepared may come too late or not at all.
   * False when the disk has no space for it.
   */
  reserveNow(): boolean;
  /** Resolves when everything written so far is on the disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

const PROBE = Buffer.alloc(8);

/** Writes one epoch's segments, each allocated as a whole before its first record. */
export function createSegmentWriter({
  dir,
  epoch,
  segmentBytes,
  files,
  logger,
  reserveBytes,
  onSegment,
}: SegmentWriterOptions): SegmentWriter {
  let active: Segment | undefined;
  let fd = -1;
  let capacity = 0;
  /** Allocated and empty, in the order of their use. */
  const spares: Segment[] = [];
  let lastIndex = 0;
  let preparing: Promise<void> | undefined;
  let starved = false;
  let closed = false;
  /** Full segments whose last records may not be on the disk yet. */
  let retired: { fd: number; bytes: number }[] = [];

  const freeBytes = (): number => (active === undefined ? 0 : capacity - active.bytes) + spares.length * segmentBytes;
  const isShort = (): boolean => freeBytes() < 1.5 * segmentBytes + reserveBytes();

  const prepare = (): Promise<void> => {
    if (closed || !isShort()) return Promise.resolve();
    preparing ??= allocateAhead().finally(() => {
      preparing = undefined;
    });
    return preparing;
  };

  const allocateAhead = async (): Promise<void> => {
    try {
      while (!closed && isShort()) {
        const next = newSegment(dir, epoch, (lastIndex += 1));
        await files.allocate(next.path, segmentBytes);
        // Another was allocated at once meanwhile, behind this one, because records could not wait.
        const newest = spares.at(-1) ?? active;
        if (closed || (newest !== undefined && newest.index > next.index)) rmSync(next.path, { force: true });
        else spares.push(next);
      }
      if (starved) logger?.info({}, 'the disk has space for the outbox again');
      starved = false;
    } catch (error) {
      starve(error);
    }
  };

  const starve = (error: unknown): void => {
    if (!starved)
      logger?.error(
        { err: error },
        'the disk has no space for another outbox segment; new calls are refused while there is still room for those that run',
      );
    starved = true;
  };

  const activate = (): Segment => {
    let next = spares.shift();
    if (next === undefined) {
      next = newSegment(dir, epoch, (lastIndex += 1));
      files.allocateNow(next.path, segmentBytes);
    }
    const opened = openSync(next.path, 'r+');
    if (active !== undefined) retired.push({ fd, bytes: active.bytes });
    fd = opened;
    active = next;
    capacity = segmentBytes;
    onSegment(next);
    return next;
  };

  const writeAt = (bytes: Buffer, length: number, position: number): void => {
    for (let at = 0; at < length;) {
      const count = files.write(fd, bytes, at, length, position + at);
      if (count <= 0) throw new Error('the disk took no bytes');
      at += count;
    }
  };

  /** What a failed write left behind must never be read as records: the segment ends before it. */
  const abandon = (): void => {
    const broken = active;
    if (broken === undefined) return;
    active = undefined;
    capacity = 0;
    try {
      abandonFile(fd, broken.bytes);
    } catch (error) {
      logger?.error({ err: error, path: broken.path }, 'a torn outbox record could not be cut off');
    }
  };

  return {
    get active() {
      return active;
    },
    get freeBytes() {
      return freeBytes();
    },
    get starved() {
      return starved;
    },
    begin: () => void activate(),
    write(records) {
      let target = active;
      if (target === undefined || (target.bytes > 0 && target.bytes + records.length > capacity)) target = activate();
      try {
        writeAt(records.bytes, records.length, target.bytes);
      } catch (error) {
        abandon();
        throw error;
      }
      target.bytes += records.length;
      if (preparing === undefined && !starved && isShort()) void prepare();
    },
    probe() {
      const target = active ?? activate();
      if (target.bytes + PROBE.length > capacity) return;
      try {
        writeAt(PROBE, PROBE.length, target.bytes);
      } catch (error) {
        abandon();
        throw error;
      }
    },
    prepare,
    reserveNow() {
      if (closed) return false;
      const next = newSegment(dir, epoch, (lastIndex += 1));
      try {
        files.allocateNow(next.path, segmentBytes);
      } catch (error) {
        starve(error);
        return false;
      }
      spares.push(next);
      return true;
    },
    async sync() {
      const full = retired;
      retired = [];
      const [current, currentFd] = [active, fd];
      for (const file of full) await files.sync(file.fd).finally(() => finishFile(file.fd, file.bytes));
      // A segment that was given up meanwhile has been closed, on the disk.
      if (current === undefined || (current !== active && !retired.some((file) => file.fd === currentFd))) return;
      await files.sync(currentFd);
    },
    async close() {
      closed = true;
      await preparing;
      for (const file of retired) await files.sync(file.fd).finally(() => finishFile(file.fd, file.bytes));
      if (active !== undefined) await files.sync(fd).finally(() => finishFile(fd, active?.bytes ?? 0));
      active = undefined;
      for (const spare of spares) rmSync(spare.path, { force: true });
    },
  };
}
