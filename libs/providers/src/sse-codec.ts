import { SluiceError } from '@sluice/contracts';

/** Longest line that is accepted, bytes. */
const DEFAULT_MAX_LINE_BYTES = 1024 * 1024;
const NOTHING = Buffer.alloc(0);
/** What is held of a buffer is copied when it is less than this part of it, so that a stream does not keep what it has passed on. */
const KEPT_PART = 4;
const LF = 10;
const CR = 13;

/** One event of a stream (WHATWG HTML, section 9.2), with the bytes that carried it. */
export interface SseEvent {
  /** Empty when the stream named none. */
  readonly event: string;
  /** Lines of `data` joined by LF; undefined for a block without data (a comment, a lone name). */
  readonly data: string | undefined;
  /** The event's own bytes, its closing blank line included. */
  readonly bytes: Buffer;
}

/** Splits a byte stream into events. Any split of the bytes gives the same events. */
export interface SseDecoder {
  /** @throws SluiceError `upstream_malformed` when a line or an event passes the cap. */
  push(chunk: Buffer): SseEvent[];
  /** How many bytes of an event that has not ended are held. */
  readonly pendingBytes: number;
}

export function createSseDecoder(maxLineBytes: number = DEFAULT_MAX_LINE_BYTES): SseDecoder {
  let pending: Buffer = NOTHING;
  /** What came after `pending` without an end of line: joined once one comes, so that a long line is copied once. */
  let tail: Buffer[] = [];
  let tailBytes = 0;
  /** Where the search for the end of a line goes on. */
  let scanned = 0;
  /** Start of the line that is being read. */
  let lineStart = 0;

  return {
    get pendingBytes() {
      return pending.length + tailBytes;
    },
    push(chunk) {
      if (pending.length > 0 && pending[pending.length - 1] !== CR && !chunk.includes(LF) && !chunk.includes(CR)) {
        tail.push(chunk);
        tailBytes += chunk.length;
        if (pending.length + tailBytes - lineStart > maxLineBytes) throw tooLong();
        return [];
      }
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, ...tail, chunk]);
      tail = [];
      tailBytes = 0;
      /** The next CR at or after `scanned`; most streams have none, and then it is looked for once. */
      let cr = pending.indexOf(CR, scanned);
      const events: SseEvent[] = [];
      let eventStart = 0;
      for (;;) {
        if (cr >= 0 && cr < scanned) cr = pending.indexOf(CR, scanned);
        const end = findLineEnd(pending, scanned, cr);
        if (end === undefined) {
          scanned = pending.length > 0 && pending[pending.length - 1] === CR ? pending.length - 1 : pending.length;
          break;
        }
        const isBlank = end.at === lineStart;
        if (end.at - lineStart > maxLineBytes) throw tooLong();
        lineStart = end.next;
        scanned = end.next;
        if (!isBlank) continue;
        const bytes = pending.subarray(eventStart, end.next);
        eventStart = end.next;
        events.push(parseEvent(bytes));
      }
      if (pending.length - eventStart > maxLineBytes * 2 || pending.length - lineStart > maxLineBytes) throw tooLong();
      if (eventStart > 0) {
        pending = heldFrom(pending, eventStart);
        lineStart -= eventStart;
        scanned -= eventStart;
      }
      return events;
    },
  };
}

function heldFrom(buffer: Buffer, start: number): Buffer {
  const length = buffer.length - start;
  if (length === 0) return NOTHING;
  return length * KEPT_PART < buffer.buffer.byteLength ? Buffer.from(buffer.subarray(start)) : buffer.subarray(start);
}

/** The end of the line at or after `from`: LF, CRLF or CR. A CR at the very end waits, because an LF may follow. */
function findLineEnd(buffer: Buffer, from: number, cr: number): { readonly at: number; readonly next: number } | undefined {
  const lf = buffer.indexOf(LF, from);
  if (cr >= 0 && (lf < 0 || cr < lf)) {
    if (cr === buffer.length - 1) return undefined;
    return { at: cr, next: buffer[cr + 1] === LF ? cr + 2 : cr + 1 };
  }
  return lf < 0 ? undefined : { at: lf, next: lf + 1 };
}

function parseEvent(bytes: Buffer): SseEvent {
  let event = '';
  let data: string | undefined;
  let text = bytes.toString('utf8');
  if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
  // Nearly every event is one line of data, with a name before it in some dialects.
  if (text.startsWith('data: ') && text.indexOf('\n') === text.length - 2 && !text.includes('\r')) return { event, data: text.slice(6, -2), bytes };
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line === '' || line.startsWith(':')) continue;
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') data = data === undefined ? value : `${data}\n${value}`;
    else if (field === 'event') event = value;
  }
  return { event, data, bytes };
}

function tooLong(): SluiceError {
  return new SluiceError('upstream_malformed', 'a line of the stream is longer than the cap');
}
