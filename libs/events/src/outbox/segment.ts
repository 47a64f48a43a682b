import { join } from 'node:path';
import type { CallSettled, CallStarted } from '@sluice/contracts';

/** What memory keeps of one segment file; records themselves stay on disk. */
export interface Segment {
  readonly epoch: number;
  readonly index: number;
  readonly path: string;
  /** Used bytes: what the file holds beyond is allocated and empty. */
  bytes: number;
  /** First and last settled sequence; 0 when it holds none. */
  firstSequence: number;
  lastSequence: number;
  /** Started calls in it that nothing has settled yet. */
  openStarts: number;
  /**
   * First settled record of each second and when it was written on the monotonic clock, for the age of what is
   * pending.
   */
  readonly marks: { sequence: number; atMs: number }[];
  /** Bytes of records by tenant id. */
  readonly byTenant: Map<string, number>;
  /** Damaged parts between whole records. */
  readonly holes: { from: number; to: number }[];
}

export type OutboxRecord = CallStarted | CallSettled;

const NAME = /^segment-(\d+)-(\d+)\.log$/;

export function newSegment(dir: string, epoch: number, index: number): Segment {
  const name = `segment-${String(epoch).padStart(13, '0')}-${String(index).padStart(10, '0')}.log`;
  return segmentAt(join(dir, name), epoch, index);
}

/** The segment that a file name stands for; undefined for other files. */
export function segmentNamed(dir: string, name: string): Segment | undefined {
  const match = NAME.exec(name);
  return match === null ? undefined : segmentAt(join(dir, name), Number(match[1]), Number(match[2]));
}

function segmentAt(path: string, epoch: number, index: number): Segment {
  return {
    epoch,
    index,
    path,
    bytes: 0,
    firstSequence: 0,
    lastSequence: 0,
    openStarts: 0,
    marks: [],
    byTenant: new Map(),
    holes: [],
  };
}

/** Notes that a settled record went into the segment, `atMs` on the monotonic clock. */
export function noteSettled(segment: Segment, sequence: number, atMs: number): void {
  if (segment.firstSequence === 0) segment.firstSequence = sequence;
  segment.lastSequence = sequence;
  const last = segment.marks.at(-1);
  if (last === undefined || atMs - last.atMs >= 1000) segment.marks.push({ sequence, atMs });
}

/** When the first record after `acked` was written, at most a second too early; undefined when all are acknowledged. */
export function oldestPendingAt(segment: Segment, acked: number): number | undefined {
  if (segment.lastSequence <= acked) return undefined;
  return segment.marks.findLast((mark) => mark.sequence <= Math.max(acked + 1, segment.firstSequence))?.atMs;
}
