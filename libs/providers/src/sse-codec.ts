import { SluiceError } from '@sluice/contracts';

/** Longest line that is accepted, bytes: a generated image in base64 is one line. */
const DEFAULT_MAX_LINE_BYTES = 16 * 1024 * 1024;
const NOTHING = Buffer.alloc(0);
const LINE_END = Buffer.from('\n');
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
  /** The bytes are over: the event whose blank line did not come, with that line among its bytes. */
  end(): SseEvent | undefined;
  /** How many bytes of an event that has not ended are held. */
  readonly pendingBytes: number;
}

export function createSseDecoder(maxLineBytes: number = DEFAULT_MAX_LINE_BYTES): SseDecoder {
  /**
   * The beginning of the event that is being read, where it came in earlier buffers. Grows by doubling, so that a
   * byte is copied a few times at most.
   */
  let held: Buffer = NOTHING;
  let heldBytes = 0;
  /** Length of the line that is being read, so far. */
  let lineBytes = 0;
  /** The last byte was a CR, which ends a line; an LF that follows belongs to it. */
  let crWaits = false;

  function hold(bytes: Buffer): void {
    const needed = heldBytes + bytes.length;
    if (needed > held.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, held.length * 2));
      held.copy(grown, 0, 0, heldBytes);
      held = grown;
    }
    bytes.copy(held, heldBytes);
    heldBytes = needed;
  }

  /** The event that ends before `end` of this buffer. */
  function take(chunk: Buffer, start: number, end: number): SseEvent {
    const here = chunk.subarray(start, end);
    if (heldBytes === 0) return parseEvent(here);
    const bytes = Buffer.concat([held.subarray(0, heldBytes), here]);
    held = NOTHING;
    heldBytes = 0;
    return parseEvent(bytes);
  }

  const decoder: SseDecoder = {
    get pendingBytes() {
      return heldBytes;
    },
    end() {
      if (heldBytes === 0) return undefined;
      const [event] = decoder.push(LINE_END);
      return event ?? decoder.push(LINE_END)[0];
    },
    push(chunk) {
      const events: SseEvent[] = [];
      if (chunk.length === 0) return events;
      let eventStart = 0;
      let at = 0;
      const endLine = (next: number): void => {
        if (lineBytes > maxLineBytes) throw tooLong();
        if (lineBytes === 0) {
          events.push(take(chunk, eventStart, next));
          eventStart = next;
        }
        lineBytes = 0;
        at = next;
      };
      if (crWaits) {
        crWaits = false;
        endLine(chunk[0] === LF ? 1 : 0);
      }
      /** The next CR; most streams have none, and then it is looked for once. */
      let cr = chunk.indexOf(CR, at);
      while (at < chunk.length) {
        if (cr >= 0 && cr < at) cr = chunk.indexOf(CR, at);
        const lf = chunk.indexOf(LF, at);
        const end = cr >= 0 && (lf < 0 || cr < lf) ? cr : lf;
        if (end < 0) {
          lineBytes += chunk.length - at;
          break;
        }
        lineBytes += end - at;
        if (end === cr && end === chunk.length - 1) {
          crWaits = true;
          break;
        }
        endLine(end === cr && chunk[end + 1] === LF ? end + 2 : end + 1);
      }
      if (lineBytes > maxLineBytes || heldBytes + chunk.length - eventStart > maxLineBytes * 2) throw tooLong();
      if (eventStart < chunk.length) hold(chunk.subarray(eventStart));
      return events;
    },
  };
  return decoder;
}

function parseEvent(bytes: Buffer): SseEvent {
  let event = '';
  let data: string | undefined;
  let text = bytes.toString('utf8');
  if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
  // Nearly every event is one line of data, with a name before it in some dialects.
  if (text.startsWith('data: ') && text.indexOf('\n') === text.length - 2 && !text.includes('\r'))
    return { event, data: text.slice(6, -2), bytes };
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
