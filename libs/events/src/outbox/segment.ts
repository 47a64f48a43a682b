import { readdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { CallSettled, CallStarted } from '@sluice/contracts';
import { readRecord } from './record.ts';

/** What memory keeps of one segment file; records themselves stay on disk. */
export interface Segment {
  readonly epoch: number;
  readonly index: number;
  readonly path: string;
  /** Good bytes: the file up to here holds whole records. */
  bytes: number;
  /** First and last settled sequence; 0 when it holds none. */
  firstSequence: number;
  lastSequence: number;
  /** Started calls in it that nothing has settled yet. */
  openStarts: number;
  /** First settled record of each second, for the age of what is pending. */
  readonly marks: { sequence: number; atMs: number }[];
}

export type OutboxRecord = CallStarted | CallSettled;

const NAME = /^segment-(\d{10})-(\d{10})\.log$/;

export function newSegment(dir: string, epoch: number, index: number): Segment {
  const name = `segment-${String(epoch).padStart(10, '0')}-${String(index).padStart(10, '0')}.log`;
  return { epoch, index, path: join(dir, name), bytes: 0, firstSequence: 0, lastSequence: 0, openStarts: 0, marks: [] };
}

/** Notes that a settled record went into the segment. */
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

export interface Scan {
  readonly segments: Segment[];
  /** Started and never settled, with the segment that holds the start. */
  readonly open: Map<string, { segment: Segment; event: CallStarted }>;
  /** Files with damage inside, not at their end: what follows the damage is lost. */
  readonly damaged: string[];
}

/** Reads the segments that earlier processes left, oldest first. A torn tail of an epoch's last segment is cut off. */
export function scanFolder(dir: string): Scan {
  const names = readdirSync(dir).filter((name) => NAME.test(name)).sort();
  const scan: Scan = { segments: [], open: new Map(), damaged: [] };
  names.forEach((name, position) => {
    const [, epoch, index] = NAME.exec(name) as unknown as [string, string, string];
    const segment = newSegment(dir, Number(epoch), Number(index));
    const buffer = readFileSync(segment.path);
    let record = readRecord(buffer, 0);
    while (typeof record === 'object') {
      segment.bytes = record.end;
      noteRecord(scan, segment, JSON.parse(record.payload) as OutboxRecord);
      record = readRecord(buffer, record.end);
    }
    if (segment.bytes < buffer.length) {
      const isLastOfEpoch = NAME.exec(names[position + 1] ?? '')?.[1] !== epoch;
      if (isLastOfEpoch) truncateSync(segment.path, segment.bytes);
      else scan.damaged.push(name);
    }
    scan.segments.push(segment);
  });
  return scan;
}

function noteRecord(scan: Scan, segment: Segment, event: OutboxRecord): void {
  if (event.type === 'call.started') {
    segment.openStarts += 1;
    scan.open.set(event.request_id, { segment, event });
    return;
  }
  noteSettled(segment, event.sequence, Date.parse(event.occurred_at));
  const start = scan.open.get(event.request_id);
  if (start === undefined) return;
  start.segment.openStarts -= 1;
  scan.open.delete(event.request_id);
}
