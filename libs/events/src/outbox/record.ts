import { crc32 } from 'node:zlib';

/** Bytes before each record: length and CRC-32 of the payload, both unsigned 32-bit little endian. */
export const HEADER_BYTES = 8;
/** A longer length is read as damage. */
export const MAX_RECORD_BYTES = 16 * 1024 * 1024;

/** The payloads framed one after the other, as one buffer for one write. */
export function frameRecords(payloads: readonly string[]): Buffer {
  let total = 0;
  const sizes = payloads.map((payload) => {
    const size = Buffer.byteLength(payload);
    total += size + HEADER_BYTES;
    return size;
  });
  const out = Buffer.allocUnsafe(total);
  let at = 0;
  payloads.forEach((payload, index) => {
    const size = sizes[index] as number;
    out.write(payload, at + HEADER_BYTES, size, 'utf8');
    out.writeUInt32LE(size, at);
    out.writeUInt32LE(crc32(out.subarray(at + HEADER_BYTES, at + HEADER_BYTES + size)), at + 4);
    at += HEADER_BYTES + size;
  });
  return out;
}

export interface ReadRecord {
  readonly payload: string;
  /** Offset just past the record. */
  readonly end: number;
}

/**
 * The record at `offset`.
 *
 * @returns 'short' when the buffer ends before the record does, 'bad' when its length or checksum cannot be right.
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
