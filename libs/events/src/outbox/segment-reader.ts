import { closeSync, openSync, readSync } from 'node:fs';
import type { CallSettled } from '@sluice/contracts';
import { HEADER_BYTES, readRecord } from './record.ts';
import type { OutboxRecord, Segment } from './segment.ts';

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

/**
 * Walks the segments from the oldest that holds what `wanted` accepts. Memory is one chunk, whatever the backlog.
 *
 * @param segments the living list, oldest first; segments may be removed from its front while reading.
 * @param wanted whether a settled record is of interest; whole segments are skipped by their last sequence.
 */
export function createReader(segments: readonly Segment[], wanted: (epoch: number, sequence: number) => boolean): OutboxReader {
  let current: Segment | undefined;
  let offset = 0;

  const follower = (): Segment | undefined =>
    segments.find((segment) => current === undefined || segment.epoch > current.epoch || (segment.epoch === current.epoch && segment.index > current.index));

  const advance = (): boolean => {
    if (current !== undefined && !segments.includes(current)) offset = current.bytes;
    while (current === undefined || offset >= current.bytes || !wanted(current.epoch, current.lastSequence)) {
      const next = follower();
      if (next === undefined) return current !== undefined && offset < current.bytes && wanted(current.epoch, current.lastSequence);
      current = next;
      offset = 0;
    }
    return true;
  };

  return {
    next: (limit) => {
      const out: CallSettled[] = [];
      while (out.length < limit && advance()) {
        const segment = current as Segment;
        let buffer = readChunk(segment, offset, CHUNK_BYTES);
        if (readRecord(buffer, 0) === 'short') buffer = readChunk(segment, offset, HEADER_BYTES + buffer.readUInt32LE(0));
        let at = 0;
        let record = readRecord(buffer, at);
        if (typeof record !== 'object') throw new Error(`${segment.path} is damaged at byte ${offset}`);
        while (typeof record === 'object' && out.length < limit) {
          at = record.end;
          const event = JSON.parse(record.payload) as OutboxRecord;
          if (event.type === 'call.settled' && wanted(event.epoch, event.sequence)) out.push(event);
          record = readRecord(buffer, at);
        }
        offset += at;
      }
      return out;
    },
  };
}
