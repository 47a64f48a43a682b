import { textLength } from './token-count.ts';

const BACKSLASH = 0x5c;
const SPACE = 0x20;
const ASCII_END = 0x80;

/**
 * Longer events are not learned: a stream keeps its wordings for as long as it runs, and long ones are not what
 * repeats often.
 */
const MAX_EVENT_BYTES = 2_048;

/** Random padding that OpenAI adds to events against traffic analysis; it says nothing. */
const PADDING = '"obfuscation":"';

/**
 * The wording of an event that repeats in a stream with nothing but one text changed: almost every event of an answer.
 * Whoever has parsed one of them need not parse the next: the same bytes around a string mean the same JSON around it.
 */
export interface EventTemplate {
  /**
   * Measures an event that has this wording: the length of its text as `textLength` counts it, or -1 when it is
   * another event.
   *
   * @param text the bytes that the event is in, read as latin1.
   * @param start offset of the event.
   * @param end one past its closing blank line.
   */
  measure(text: string, bytes: Buffer, start: number, end: number): number;
}

/**
 * Learns the wording of an event that was parsed.
 *
 * @param event its bytes, closing blank line included.
 * @param key the member that holds the text. It must stand there once: inside a string its quotes would be escaped.
 * @param value what the parser found in it.
 * @returns undefined where the event is longer than 2 kB or written in a way that cannot be told apart for certain.
 */
export function learnTemplate(event: Buffer, key: string, value: string): EventTemplate | undefined {
  if (event.length > MAX_EVENT_BYTES) return undefined;
  const text = event.toString('latin1');
  if (text.indexOf('\n\n') !== text.length - 2 || text.includes('\r')) return undefined;
  const valueStart = onlyValue(text, `"${key}":"`, `"${key}": "`);
  const valueEnd = valueStart < 0 ? -1 : endOfString(text, valueStart);
  if (valueEnd < 0 || decode(event, valueStart, valueEnd) !== value) return undefined;
  const head = text.slice(0, valueStart);
  const rest = text.slice(valueEnd);
  const padding = rest.indexOf(PADDING);
  if (padding < 0) return createTemplate(head, rest, undefined);
  const paddingStart = padding + PADDING.length;
  const paddingEnd = endOfString(rest, paddingStart);
  return paddingEnd < 0 ? undefined : createTemplate(head, rest.slice(0, paddingStart), rest.slice(paddingEnd));
}

/** @param last what follows the padding's value; undefined for events without padding. */
function createTemplate(head: string, middle: string, last: string | undefined): EventTemplate {
  return {
    measure(text, bytes, start, end) {
      if (!text.startsWith(head, start)) return -1;
      const valueStart = start + head.length;
      const valueEnd = endOfString(text, valueStart);
      if (valueEnd < 0 || !text.startsWith(middle, valueEnd)) return -1;
      let at = valueEnd + middle.length;
      if (last !== undefined) {
        const paddingEnd = text.indexOf('"', at);
        if (paddingEnd < 0 || !isPlain(text, at, paddingEnd) || !text.startsWith(last, paddingEnd)) return -1;
        at = paddingEnd + last.length;
      }
      if (at !== end) return -1;
      return isPlain(text, valueStart, valueEnd)
        ? valueEnd - valueStart
        : lengthOf(decode(bytes, valueStart, valueEnd));
    },
  };
}

function lengthOf(value: string | undefined): number {
  return value === undefined ? -1 : textLength(value);
}

/** Where the value of the only member with one of two spellings begins, or -1. */
function onlyValue(text: string, tight: string, spaced: string): number {
  const [a, b] = [text.indexOf(tight), text.indexOf(spaced)];
  if (a < 0 === b < 0) return -1;
  const [at, needle] = a < 0 ? [b, spaced] : [a, tight];
  return text.indexOf(needle, at + 1) < 0 ? at + needle.length : -1;
}

/** The closing quote of a string that begins at `start`, or -1. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (quote - 1 - slashes >= start && text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return quote;
  }
  return -1;
}

/** Nothing but printable ASCII without escapes. */
function isPlain(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i += 1) {
    const code = text.charCodeAt(i);
    if (code < SPACE || code >= ASCII_END || code === BACKSLASH) return false;
  }
  return true;
}

/** The value of a JSON string between its quotes; undefined when it is not valid. */
function decode(bytes: Buffer, start: number, end: number): string | undefined {
  try {
    return JSON.parse(bytes.toString('utf8', start - 1, end + 1)) as string;
  } catch {
    return undefined;
  }
}
