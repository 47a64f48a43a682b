import { crc32 } from 'node:zlib';
import type { CallSettled, CallStarted, EventOrigin } from '@sluice/contracts';
import {
  HEADER_BYTES,
  INLINE_NAME,
  KIND_SETTLED,
  KIND_STARTED,
  MARK,
  MAX_RECORD_BYTES,
  PLACE_BYTES,
  TAG,
} from './record-format.ts';
import { RECORD_WORDS } from './record-words.ts';

const FIRST_BYTES = 256 * 1024;
/** A tag, a name's byte and the longest number, with room to spare. */
const SMALL_BYTES = 32;
/** Longer strings are looked up nowhere. */
const LONGEST_WORD = Math.max(...RECORD_WORDS.map((word) => word.length));
/** Up to here a loop is quicker than a call out of JavaScript. */
const LOOPED_LENGTH = 16;
/** A UTF-16 unit becomes at most three bytes. */
const MAX_BYTES_PER_UNIT = 3;

const codes = new Map(RECORD_WORDS.map((word, place) => [word, place + 1]));
const GATEWAY_ID = codes.get('gateway_id') as number;
const MARK_INT = MARK.readUInt32BE(0);

/**
 * Writes the records of one batch into memory that is used again by the next. What is read back equals what
 * `JSON.parse` makes of `JSON.stringify`'s text, at a third of the bytes and half of the time.
 */
export class RecordWriter {
  bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  length = 0;
  #view = viewOf(this.bytes);
  /**
   * By a name's code: the name that followed it last, and its code. Events of a kind have their members in one
   * order, so most look-ups are spared.
   */
  readonly #nextName = new Array<string | undefined>(256).fill(undefined);
  readonly #nextCode = new Uint8Array(256);
  /** By a name's code: the short text that was its value last, and that one's code, 0 for none. */
  readonly #lastText = new Array<string | undefined>(256).fill(undefined);
  readonly #lastTextCode = new Uint8Array(256);

  clear(): void {
    this.length = 0;
    if (this.bytes.length > MAX_RECORD_BYTES) this.#use(Buffer.allocUnsafeSlow(FIRST_BYTES));
  }

  /** Adds the start of a call; how many bytes it takes, header included. */
  addStarted(event: CallStarted): number {
    const start = this.#begin(KIND_STARTED);
    this.#members(event, 0);
    return this.#finish(start);
  }

  /** Adds the end of a call at its place; how many bytes it takes, header included. */
  addSettled(event: Omit<CallSettled, keyof EventOrigin>, gatewayId: string, epoch: number, sequence: number): number {
    const start = this.#begin(KIND_SETTLED);
    this.#float(epoch);
    this.#float(sequence);
    this.#byte(GATEWAY_ID);
    this.#string(gatewayId, GATEWAY_ID);
    this.#members(event, 0);
    return this.#finish(start);
  }

  #begin(kind: number): number {
    const start = this.length;
    this.#reserve(HEADER_BYTES + MARK.length + PLACE_BYTES + SMALL_BYTES);
    this.length += HEADER_BYTES;
    this.#view.setUint32(this.length, MARK_INT);
    this.length += MARK.length;
    this.#byte(kind);
    return start;
  }

  #finish(start: number): number {
    const { bytes, length } = this;
    const payload = start + HEADER_BYTES;
    this.#view.setUint32(start, length - payload, true);
    this.#view.setUint32(start + 4, crc32(bytes.subarray(payload, length)), true);
    return length - start;
  }

  /** @param within code of the name whose value this is, 0 for the event itself. */
  #members(object: object, within: number): void {
    let last = within;
    for (const name in object) {
      const value = (object as Readonly<Record<string, unknown>>)[name];
      if (value === undefined) continue;
      this.#reserve(SMALL_BYTES);
      last = this.#nextName[last] === name ? (this.#nextCode[last] as number) : this.#follow(last, name);
      this.#byte(last);
      if (last === INLINE_NAME) {
        this.#string(name, INLINE_NAME);
        this.#reserve(SMALL_BYTES);
      }
      this.#value(value, last);
    }
    this.#reserve(SMALL_BYTES);
    this.#byte(TAG.end);
  }

  /** The code of a name that was not expected after this one. */
  #follow(code: number, name: string): number {
    const found = codes.get(name);
    if (found === undefined) return INLINE_NAME;
    this.#nextName[code] = name;
    return (this.#nextCode[code] = found);
  }

  #value(value: unknown, name: number): void {
    if (typeof value === 'string') this.#string(value, name);
    else if (typeof value === 'number') this.#number(value);
    else if (typeof value === 'boolean') this.#byte(value ? TAG.true : TAG.false);
    else if (Array.isArray(value)) this.#array(value, name);
    else if (typeof value === 'object' && value !== null) {
      this.#byte(TAG.object);
      this.#members(value, name);
    } else this.#byte(TAG.null);
  }

  #array(values: readonly unknown[], name: number): void {
    this.#byte(TAG.array);
    for (const value of values) {
      this.#reserve(SMALL_BYTES);
      this.#value(value, name);
    }
    this.#reserve(SMALL_BYTES);
    this.#byte(TAG.end);
  }

  /** What is no number that JSON knows spoils its own member, not the record. */
  #number(value: number): void {
    if (value >>> 0 === value) this.#unsigned(value);
    else if (Number.isFinite(value)) {
      this.#byte(TAG.float);
      this.#float(value);
    } else this.#byte(TAG.null);
  }

  #unsigned(value: number): void {
    if (value < 0x100) {
      this.#byte(TAG.byte);
      this.#byte(value);
    } else if (value < 0x10000) {
      this.#byte(TAG.short);
      this.#byte(value);
      this.#byte(value >>> 8);
    } else {
      this.#byte(TAG.int);
      this.#view.setUint32(this.length, value, true);
      this.length += 4;
    }
  }

  #float(value: number): void {
    this.#view.setFloat64(this.length, value, true);
    this.length += 8;
  }

  #string(value: string, name: number): void {
    const units = value.length;
    if (units <= LONGEST_WORD) {
      const code = this.#lastText[name] === value ? (this.#lastTextCode[name] as number) : this.#lookUp(value, name);
      if (code > 0) {
        this.#byte(TAG.word);
        return this.#byte(code);
      }
    }
    this.#reserve(units * MAX_BYTES_PER_UNIT + SMALL_BYTES);
    const at = this.length;
    const short = units < 0x100;
    const start = at + (short ? 2 : 5);
    if (!this.#ascii(value, start)) return this.#wide(value);
    this.bytes[at] = short ? TAG.text : TAG.longText;
    if (short) this.bytes[at + 1] = units;
    else this.#view.setUint32(at + 1, units, true);
    this.length = start + units;
  }

  #lookUp(value: string, name: number): number {
    this.#lastText[name] = value;
    return (this.#lastTextCode[name] = codes.get(value) ?? 0);
  }

  /** False, with nothing of it to be kept, when the string holds more than ASCII. */
  #ascii(value: string, at: number): boolean {
    const { bytes } = this;
    const units = value.length;
    // Each other character takes more bytes in UTF-8 than units in UTF-16.
    if (units > LOOPED_LENGTH) return bytes.write(value, at, 'utf8') === units;
    for (let i = 0; i < units; i += 1) {
      const unit = value.charCodeAt(i);
      if (unit > 0x7f) return false;
      bytes[at + i] = unit;
    }
    return true;
  }

  #wide(value: string): void {
    const at = this.length;
    this.bytes[at] = TAG.wideText;
    this.#view.setUint32(at + 1, value.length * 2, true);
    this.length = at + 5 + this.bytes.write(value, at + 5, 'utf16le');
  }

  #byte(value: number): void {
    this.bytes[this.length++] = value;
  }

  #reserve(bytes: number): void {
    if (this.length + bytes > this.bytes.length) this.#grow(this.length + bytes);
  }

  #grow(least: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(least, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.length);
    this.#use(larger);
  }

  #use(bytes: Buffer): void {
    this.bytes = bytes;
    this.#view = viewOf(bytes);
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
