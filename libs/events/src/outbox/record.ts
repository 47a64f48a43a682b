import { crc32 } from 'node:zlib';
import { HEADER_BYTES, MARK, MAX_RECORD_BYTES } from './record-format.ts';

/**
 * Every payload begins with one of these: where records are found again behind damage. The second is that of
 * earlier versions.
 */
const PAYLOAD_STARTS = [MARK.subarray(0, 3), Buffer.from('{"schema":"sluice.event/')];

/** Where a whole record lies. */
export interface FramedRecord {
  readonly payload: Buffer;
  /** Offset just past the record. */
  readonly end: number;
}

/**
 * The record at `offset`.
 *
 * @returns 'short' when the buffer ends before the record does, 'bad' when its length or checksum cannot be right,
 * as in the zeros of space that was allocated and not used.
 */
export function readRecord(buffer: Buffer, offset: number): FramedRecord | 'short' | 'bad' {
  if (offset + HEADER_BYTES > buffer.length) return 'short';
  const size = buffer.readUInt32LE(offset);
  if (size === 0 || size > MAX_RECORD_BYTES) return 'bad';
  const start = offset + HEADER_BYTES;
  const end = start + size;
  if (end > buffer.length) return 'short';
  const payload = buffer.subarray(start, end);
  return crc32(payload) === buffer.readUInt32LE(offset + 4) ? { payload, end } : 'bad';
}

/** Offset of the first whole record at or after `offset`, whatever lies before it; undefined when there is none. */
export function findRecord(buffer: Buffer, offset: number): number | undefined {
  const found = PAYLOAD_STARTS.map((start) => findStarting(start, buffer, offset)).filter((at) => at !== undefined);
  return found.length === 0 ? undefined : Math.min(...found);
}

function findStarting(payloadStart: Buffer, buffer: Buffer, offset: number): number | undefined {
  for (
    let at = buffer.indexOf(payloadStart, offset + HEADER_BYTES);
    at >= 0;
    at = buffer.indexOf(payloadStart, at + 1)
  ) {
    const start = at - HEADER_BYTES;
    if (start >= offset && typeof readRecord(buffer, start) === 'object') return start;
  }
  return undefined;
}
