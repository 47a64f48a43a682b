import { crc32 } from 'node:zlib';

/** Bytes before each record: length and CRC-32 of the payload, both unsigned 32-bit little endian. */
export const HEADER_BYTES = 8;
/** A longer length is read as damage. */
export const MAX_RECORD_BYTES = 16 * 1024 * 1024;
/** Every payload begins so: where records are found again behind damage. */
const PAYLOAD_START = Buffer.from('{"schema":"sluice.event/');
/** A UTF-16 unit becomes at most three bytes. */
const MAX_BYTES_PER_UNIT = 3;

/** Frames the records of one write into memory that is used again by the next. */
export class FrameBuffer {
  bytes: Buffer = Buffer.allocUnsafeSlow(256 * 1024);
  length = 0;

  clear(): void {
    this.length = 0;
    if (this.bytes.length > MAX_RECORD_BYTES) this.bytes = Buffer.allocUnsafeSlow(256 * 1024);
  }

  /** Adds a record; how many bytes it takes, header included. */
  add(payload: string): number {
    const start = this.length;
    const most = start + HEADER_BYTES + payload.length * MAX_BYTES_PER_UNIT;
    if (most > this.bytes.length) this.#grow(most);
    const { bytes } = this;
    const size = bytes.write(payload, start + HEADER_BYTES, 'utf8');
    bytes.writeUInt32LE(size, start);
    bytes.writeUInt32LE(crc32(bytes.subarray(start + HEADER_BYTES, start + HEADER_BYTES + size)), start + 4);
    this.length = start + HEADER_BYTES + size;
    return HEADER_BYTES + size;
  }

  #grow(least: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(least, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }
}

export interface ReadRecord {
  readonly payload: string;
  /** Offset just past the record. */
  readonly end: number;
}

/**
 * The record at `offset`.
 *
 * @returns 'short' when the buffer ends before the record does, 'bad' when its length or checksum cannot be right, as in the
 * zeros of space that was allocated and not used.
 */
export function readRecord(buffer: Buffer, offset: number): ReadRecord | 'short' | 'bad' {
  if (offset + HEADER_BYTES > buffer.length) return 'short';
  const size = buffer.readUInt32LE(offset);
  if (size === 0 || size > MAX_RECORD_BYTES) return 'bad';
  const start = offset + HEADER_BYTES;
  const end = start + size;
  if (end > buffer.length) return 'short';
  const bytes = buffer.subarray(start, end);
  if (crc32(bytes) !== buffer.readUInt32LE(offset + 4)) return 'bad';
  return { payload: bytes.toString('utf8'), end };
}

/** Offset of the first whole record at or after `offset`, whatever lies before it; undefined when there is none. */
export function findRecord(buffer: Buffer, offset: number): number | undefined {
  for (let at = buffer.indexOf(PAYLOAD_START, offset + HEADER_BYTES); at >= 0; at = buffer.indexOf(PAYLOAD_START, at + 1)) {
    const start = at - HEADER_BYTES;
    if (start >= offset && typeof readRecord(buffer, start) === 'object') return start;
  }
  return undefined;
}
