import { closeSync, fdatasyncSync, ftruncateSync, openSync, readdirSync, readFileSync } from 'node:fs';
import type { CallSettled, CallStarted, Clock } from '@sluice/contracts';
import { findRecord, readRecord } from './record.ts';
import { storedRecord } from './record-decoder.ts';
import { noteSettled, segmentNamed, type OutboxRecord, type Segment } from './segment.ts';

export interface Scan {
  /** Oldest first. */
  readonly segments: Segment[];
  /** Started and never settled, with the segment that holds the start. */
  readonly open: Map<string, { segment: Segment; event: CallStarted }>;
  /** Last settled sequence of each epoch, up to which none is missing. */
  readonly lastOf: Map<number, number>;
  /** Whole records behind a sequence that is lost: the ledger could never acknowledge them in their old place. */
  readonly strays: CallSettled[];
  /** Files with damage between whole records. */
  readonly damaged: string[];
  /** Epochs in which a sequence is lost. */
  readonly broken: Set<number>;
}

/**
 * Reads the segments that earlier processes left. The torn or empty tail of each is cut off; behind damage reading
 * goes on at the next whole record. What is left is on the disk when this returns.
 */
export function scanFolder(dir: string, clock: Clock): Scan {
  const scan: Scan = { segments: [], open: new Map(), lastOf: new Map(), strays: [], damaged: [], broken: new Set() };
  const skewMs = clock.monotonic() - clock.now();
  const found = readdirSync(dir).map((name) => segmentNamed(dir, name));
  const segments = found
    .filter((segment) => segment !== undefined)
    .sort((a, b) => a.epoch - b.epoch || a.index - b.index);
  for (const segment of segments) {
    readSegment(scan, segment, skewMs);
    scan.segments.push(segment);
  }
  return scan;
}

function readSegment(scan: Scan, segment: Segment, skewMs: number): void {
  const buffer = readFileSync(segment.path);
  let at = 0;
  for (;;) {
    const record = readRecord(buffer, at);
    if (typeof record === 'object') {
      noteRecord(scan, segment, storedRecord(record.payload).decode(), record.end - at, skewMs);
      at = record.end;
      segment.bytes = at;
      continue;
    }
    const next = findRecord(buffer, at + 1);
    if (next === undefined) break;
    segment.holes.push({ from: at, to: next });
    at = next;
  }
  if (segment.holes.length > 0) scan.damaged.push(segment.path);
  secure(segment, buffer.length);
}

/** Cuts the tail off and forces the rest to the disk: the process that wrote it may have had no time to. */
function secure(segment: Segment, fileBytes: number): void {
  const fd = openSync(segment.path, 'r+');
  try {
    if (segment.bytes < fileBytes) ftruncateSync(fd, segment.bytes);
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function noteRecord(scan: Scan, segment: Segment, event: OutboxRecord, size: number, skewMs: number): void {
  segment.byTenant.set(event.tenant_id, (segment.byTenant.get(event.tenant_id) ?? 0) + size);
  const start = scan.open.get(event.request_id);
  if (start !== undefined) start.segment.openStarts -= 1;
  if (event.type === 'call.started') {
    segment.openStarts += 1;
    scan.open.set(event.request_id, { segment, event });
    return;
  }
  scan.open.delete(event.request_id);
  const last = scan.lastOf.get(event.epoch);
  // Segments are deleted from the front, so an epoch may begin at any sequence, and goes on without gaps.
  if (last === undefined ? segment.holes.length > 0 : event.sequence !== last + 1) scan.broken.add(event.epoch);
  if (scan.broken.has(event.epoch)) {
    scan.strays.push(event);
    return;
  }
  scan.lastOf.set(event.epoch, event.sequence);
  noteSettled(segment, event.sequence, Date.parse(event.occurred_at) + skewMs);
}
