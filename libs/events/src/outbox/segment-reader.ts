import { closeSync, openSync, readSync } from 'node:fs';
import type { CallSettled } from '@sluice/contracts';
import { readRecord } from './record.ts';
import { storedRecord } from './record-decoder.ts';
import { HEADER_BYTES } from './record-format.ts';
import type { Segment } from './segment.ts';

const CHUNK_BYTES = 256 * 1024;

export interface OutboxReader {
  /** The next settled records in order, at most `limit`; empty when it has caught up. */
  next(limit: number): CallSettled[];
}

/** One read of the segment at `offset`: whole records, as many as a chunk holds, at least one if there is one. */
function readChunk(segment: Segment, offset: number, size: number): Buffer {
  const fd = openSync(segment.path, 'r');
  try {
    const buffer = Buffer.allocUnsafe(Math.min(size, segment.bytes - offset));
    return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, offset));
  } finally {
    closeSync(fd);
  }
}

/** Whether a settled record is wanted; `stop` means not yet: reading goes on there next time. */
export type Wanted = (epoch: number, sequence: number) => 'take' | 'skip' | 'stop';

/**
 * Walks the segments from the oldest on. Memory is one chunk, whatever the backlog.
 *
 * @param segments the living list, oldest first; segments may be removed from its front while reading.
 * @param acked up to where an epoch is of no interest, so that whole segments need not be read.
 */
export function createReader(
  segments: readonly Segment[],
  acked: (epoch: number) => number,
  wanted: Wanted,
): OutboxReader {
  let current: Segment | undefined;
  let offset = 0;

  const follower = (): Segment | undefined =>
    segments.find(
      (segment) =>
        current === undefined ||
        segment.epoch > current.epoch ||
        (segment.epoch === current.epoch && segment.index > current.index),
    );

  /** Moves to a segment with something to read; false when there is none. */
  const advance = (): boolean => {
    if (current !== undefined && !segments.includes(current)) offset = current.bytes;
    while (current === undefined || offset >= current.bytes || current.lastSequence <= acked(current.epoch)) {
      const next = follower();
      if (next === undefined) return false;
      current = next;
      offset = 0;
    }
    return true;
  };

  /** Reads on in the current segment; false when it came to a record that is not wanted yet. */
  const readInto = (out: CallSettled[], segment: Segment, limit: number): boolean => {
    const hole = segment.holes.find(({ from }) => from === offset);
    if (hole !== undefined) {
      offset = hole.to;
      return true;
    }
    let buffer = readChunk(segment, offset, CHUNK_BYTES);
    if (readRecord(buffer, 0) === 'short') buffer = readChunk(segment, offset, HEADER_BYTES + buffer.readUInt32LE(0));
    let at = 0;
    let record = readRecord(buffer, at);
    if (typeof record !== 'object') throw new Error(`${segment.path} is damaged at byte ${offset}`);
    const base = offset;
    while (typeof record === 'object' && out.length < limit) {
      const stored = storedRecord(record.payload);
      const verdict = stored.kind === 'settled' ? wanted(stored.epoch, stored.sequence) : 'skip';
      if (verdict === 'stop') return false;
      if (verdict === 'take') out.push(stored.decode() as CallSettled);
      at = record.end;
      offset = base + at;
      record = readRecord(buffer, at);
    }
    return true;
  };

  return {
    next: (limit) => {
      const out: CallSettled[] = [];
      while (out.length < limit && advance()) if (!readInto(out, current as Segment, limit)) break;
      return out;
    },
  };
}
