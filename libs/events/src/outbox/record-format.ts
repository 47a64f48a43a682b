/**
 * How a record lies on the disk: a header of length and CRC-32 of what follows (both unsigned 32-bit little
 * endian), then the payload: `MARK`, a kind, for an end its epoch and sequence (both 64-bit floats), and the
 * members of the event, each a name and a value, until `TAG.end`. A name is its place in `RECORD_WORDS`, or
 * `INLINE_NAME` and a string. A value is a tag and what follows it. All numbers are little endian. Versions before
 * this one wrote JSON behind the same header; it is still read.
 */
export const HEADER_BYTES = 8;
/** A longer length is read as damage. */
export const MAX_RECORD_BYTES = 16 * 1024 * 1024;

/** First byte is in no UTF-8 text; the last is the version of what follows. */
export const MARK = Buffer.from([0xf5, 0x53, 0x4c, 0x01]);
export const KIND_STARTED = 1;
export const KIND_SETTLED = 2;
/** Epoch and sequence lie before the members, so that a reader may pass over a record without decoding it. */
export const PLACE_BYTES = 16;
export const INLINE_NAME = 255;

export const TAG = {
  end: 0,
  null: 1,
  false: 2,
  true: 3,
  /** Unsigned integers of one, two and four bytes. */
  byte: 4,
  short: 5,
  int: 6,
  /** Any other number, 8 bytes. */
  float: 7,
  /** A string by its place in `RECORD_WORDS`. */
  word: 8,
  /** ASCII behind a length of one byte. */
  text: 9,
  /** ASCII behind a length of four bytes. */
  longText: 10,
  /**
   * UTF-16 behind a length in bytes, of four bytes: what is no text in UTF-8, as half a surrogate pair, is kept
   * too.
   */
  wideText: 11,
  /** Members, then `end`. */
  object: 12,
  /** Values, then `end`. */
  array: 13,
} as const;
