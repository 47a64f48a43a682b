import type { OutboxRecord } from './segment.ts';
import { INLINE_NAME, KIND_SETTLED, KIND_STARTED, MARK, PLACE_BYTES, TAG } from './record-format.ts';
import { RECORD_WORDS } from './record-words.ts';

/** A record as it was found, not decoded yet. */
export interface StoredRecord {
  readonly kind: 'started' | 'settled';
  /** Its place; both 0 for a start. */
  readonly epoch: number;
  readonly sequence: number;
  /** To be called while the buffer that it was read from is unchanged. */
  decode(): OutboxRecord;
}

const JSON_START = '{'.charCodeAt(0);
const KIND_AT = MARK.length;
const PLACE_AT = KIND_AT + 1;

/**
 * The record of a payload whose checksum is right.
 *
 * @throws Error when another version wrote it in a format that this one does not know.
 */
export function storedRecord(payload: Buffer): StoredRecord {
  if (payload[0] === JSON_START) return jsonRecord(payload);
  const kind = payload[KIND_AT];
  if (!payload.subarray(0, KIND_AT).equals(MARK) || (kind !== KIND_STARTED && kind !== KIND_SETTLED))
    throw unknownFormat();
  if (kind === KIND_STARTED)
    return {
      kind: 'started',
      epoch: 0,
      sequence: 0,
      decode: () => new RecordDecoder(payload, PLACE_AT).object() as unknown as OutboxRecord,
    };
  const [epoch, sequence] = [payload.readDoubleLE(PLACE_AT), payload.readDoubleLE(PLACE_AT + 8)];
  const decode = (): OutboxRecord => {
    const event = new RecordDecoder(payload, PLACE_AT + PLACE_BYTES).object();
    event['epoch'] = epoch;
    event['sequence'] = sequence;
    return event as unknown as OutboxRecord;
  };
  return { kind: 'settled', epoch, sequence, decode };
}

function jsonRecord(payload: Buffer): StoredRecord {
  const event = JSON.parse(payload.toString('utf8')) as OutboxRecord;
  const decode = (): OutboxRecord => event;
  return event.type === 'call.settled'
    ? { kind: 'settled', epoch: event.epoch, sequence: event.sequence, decode }
    : { kind: 'started', epoch: 0, sequence: 0, decode };
}

function unknownFormat(): Error {
  return new Error(
    'an outbox record is in a format of a later version; start that version again, or let it drain its outbox before this one takes the folder',
  );
}

class RecordDecoder {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  object(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    for (let code = this.#byte(); code !== TAG.end; code = this.#byte()) {
      if (code !== INLINE_NAME) {
        object[wordOf(code)] = this.#value(this.#byte());
        continue;
      }
      const name = String(this.#value(this.#byte()));
      // Assigned, `__proto__` would be no member.
      Object.defineProperty(object, name, {
        value: this.#value(this.#byte()),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return object;
  }

  #value(tag: number): unknown {
    switch (tag) {
      case TAG.null:
        return null;
      case TAG.false:
        return false;
      case TAG.true:
        return true;
      case TAG.byte:
        return this.#byte();
      case TAG.short:
        return this.#byte() | (this.#byte() << 8);
      case TAG.int:
        return this.#int();
      case TAG.float:
        return this.#bytes.readDoubleLE(this.#pass(8));
      case TAG.word:
        return wordOf(this.#byte());
      case TAG.text:
        return this.#text(this.#byte(), 'latin1');
      case TAG.longText:
        return this.#text(this.#int(), 'latin1');
      case TAG.wideText:
        return this.#text(this.#int(), 'utf16le');
      case TAG.object:
        return this.object();
      case TAG.array:
        return this.#array();
      default:
        throw unknownFormat();
    }
  }

  #array(): unknown[] {
    const values: unknown[] = [];
    for (let tag = this.#byte(); tag !== TAG.end; tag = this.#byte()) values.push(this.#value(tag));
    return values;
  }

  #text(bytes: number, encoding: 'latin1' | 'utf16le'): string {
    const start = this.#pass(bytes);
    return this.#bytes.toString(encoding, start, start + bytes);
  }

  #byte(): number {
    return this.#bytes[this.#pass(1)] as number;
  }

  #int(): number {
    return this.#bytes.readUInt32LE(this.#pass(4));
  }

  /** Steps over so many bytes; where they began. */
  #pass(bytes: number): number {
    const at = this.#at;
    this.#at += bytes;
    if (this.#at > this.#bytes.length) throw unknownFormat();
    return at;
  }
}

function wordOf(code: number): string {
  const word = RECORD_WORDS[code - 1];
  if (word === undefined) throw unknownFormat();
  return word;
}
