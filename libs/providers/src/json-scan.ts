import type { MemberRange, ObjectIndex } from '@sluice/contracts';
import { MAX_JSON_DEPTH, MAX_JSON_PARTS, PARTS_OF_A_NAME } from './json-shape.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const SPACE = 0x20;
const SMALL_U = 0x75;
/** Bytes of a string without an escape after which the rest is searched rather than walked over. */
const PLAIN_BYTES = 64;
/** A key may be written in escapes of six bytes a character (`"mod\u0065l"`). */
const ESCAPED_BYTES = 6;

/** What one walk over the bytes of a JSON object finds out; no value is built. */
export interface JsonScan {
  /** What makes the text more expensive to parse than its size; nothing else is known then. */
  readonly fault: 'too_deep' | 'too_many_parts' | undefined;
  /** The first watched key that stands twice at the top. */
  readonly twice: string | undefined;
  /** Characters that are written as `\uXXXX`. */
  readonly escapes: number;
  readonly index: ObjectIndex;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * Walks once over the text of a JSON object: how deep and how rich it is, and where its watched top-level members
 * stand, so that they can be replaced later without a second walk. About a nanosecond for each byte, whatever they
 * are: escapes and quotes cost no more than other text.
 *
 * @param json any bytes. Fault and index are right for a valid JSON object; for anything else they mean nothing, and
 * `JSON.parse` refuses it.
 * @param watched the keys whose places are wanted.
 */
export function scanObject(json: Buffer, watched: ReadonlySet<string>): JsonScan {
  const longest = longestOf(watched) * ESCAPED_BYTES;
  const members: Mutable<MemberRange>[] = [];
  const { length } = json;
  let twice: string | undefined;
  let depth = 0;
  let parts = 0;
  let count = 0;
  let escapes = 0;
  let closeAt = -1;
  let expectsKey = false;
  /** The watched member whose value is being walked over, and the one whose follower is not known yet. */
  let open: Mutable<MemberRange> | undefined;
  let last: Mutable<MemberRange> | undefined;
  /** One past the last byte of the member before, and of what was met last. */
  let previousEnd: number | undefined;
  let end = 0;
  /** Places found ahead; they count while they lie ahead. */
  let nextQuote = -1;
  let nextBackslash = -1;

  for (let i = 0; i < length; i += 1) {
    const byte = json[i] as number;
    if (byte <= SPACE) continue;
    switch (byte) {
      case QUOTE: {
        const start = i;
        let plain = 0;
        for (i += 1; i < length; i += 1) {
          const inside = json[i];
          if (inside === QUOTE) break;
          if (inside === BACKSLASH) {
            i += 1;
            plain = 0;
            if (json[i] === SMALL_U) escapes += 1;
          } else if ((plain += 1) >= PLAIN_BYTES) {
            // A long text: the engine's own search is ten times as fast, and too slow to begin anew at each escape.
            plain = 0;
            if (nextQuote <= i) nextQuote = placeOf(json, QUOTE, i + 1);
            if (nextBackslash <= i) nextBackslash = placeOf(json, BACKSLASH, i + 1);
            i = Math.min(nextQuote, nextBackslash) - 1;
          }
        }
        if (depth !== 1 || !expectsKey) break;
        expectsKey = false;
        if (last !== undefined) last.nextStart = start;
        last = undefined;
        const key = i - start - 1 > longest ? undefined : keyText(json, start, i);
        if (key !== undefined && watched.has(key)) {
          if (twice === undefined && members.some((member) => member.key === key)) twice = key;
          open = last = {
            key,
            ordinal: count,
            keyStart: start,
            valueStart: -1,
            valueEnd: -1,
            previousEnd,
            nextStart: undefined,
          };
          members.push(open);
        }
        count += 1;
        break;
      }
      case COLON:
        parts += PARTS_OF_A_NAME - 1;
        if (depth === 1 && open?.valueStart === -1) open.valueStart = skipSpace(json, i + 1);
        break;
      case COMMA:
        parts += 1;
        if (depth !== 1) break;
        if (open !== undefined) open.valueEnd = end;
        open = undefined;
        previousEnd = end;
        expectsKey = true;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        parts += 1;
        if (depth > MAX_JSON_DEPTH) return { fault: 'too_deep', twice, escapes, index: NO_INDEX };
        expectsKey = depth === 1 && byte === OPEN_BRACE;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        if (depth !== 0) break;
        if (open !== undefined) open.valueEnd = end;
        open = undefined;
        closeAt = i;
        break;
    }
    end = i + 1;
  }
  return {
    fault: parts > MAX_JSON_PARTS ? 'too_many_parts' : undefined,
    twice,
    escapes,
    index: { keys: watched, members, count, closeAt },
  };
}

const NO_INDEX: ObjectIndex = { keys: new Set(), members: [], count: 0, closeAt: -1 };

/** Longest key of a set, characters. Sets of keys are few and live as long as the process. */
const longestKeys = new WeakMap<ReadonlySet<string>, number>();

function longestOf(keys: ReadonlySet<string>): number {
  let longest = longestKeys.get(keys);
  if (longest === undefined) {
    longest = Math.max(0, ...[...keys].map(({ length }) => length));
    longestKeys.set(keys, longest);
  }
  return longest;
}

/** A key as JSON reads it; undefined when it cannot be read. */
function keyText(json: Buffer, start: number, end: number): string | undefined {
  const raw = json.toString('utf8', start + 1, end);
  if (!raw.includes('\\')) return raw;
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return undefined;
  }
}

/** The next place of a byte; the length where there is none. */
function placeOf(json: Buffer, byte: number, from: number): number {
  const place = json.indexOf(byte, from);
  return place < 0 ? json.length : place;
}

function skipSpace(json: Buffer, from: number): number {
  let i = from;
  while (i < json.length && (json[i] as number) <= SPACE) i += 1;
  return i;
}
