import { StringDecoder } from 'node:string_decoder';

export interface SseEvent {
  readonly event: string;
  readonly data: string;
}

/** Reads server-sent events from bytes cut anywhere. Comments and ids are dropped. */
export interface SseParser {
  /** @throws RangeError when an unfinished event passes `maxChars`. */
  push(chunk: Buffer): SseEvent[];
}

/**
 * `takeLine` is offered each line of an event's data as it comes, so that a large event need not be in memory as a
 * whole. What it takes (true) is in no `data`; the event itself is told when it ends, as ever.
 */
export function createSseParser(maxChars: number, takeLine?: (event: string, line: string) => boolean): SseParser {
  const decoder = new StringDecoder('utf8');
  let rest: string[] = [];
  let restChars = 0;
  let event = '';
  let data: string[] = [];
  let dataChars = 0;
  let taken = false;

  function line(text: string, out: SseEvent[]): void {
    if (text === '') {
      if (data.length > 0 || taken) out.push({ event: event === '' ? 'message' : event, data: data.join('\n') });
      event = '';
      data = [];
      dataChars = 0;
      taken = false;
      return;
    }
    const colon = text.indexOf(':');
    if (colon === 0) return;
    const field = colon === -1 ? text : text.slice(0, colon);
    const value = colon === -1 ? '' : text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') event = value;
    if (field === 'data') {
      if (takeLine?.(event, value) === true) {
        taken = true;
        return;
      }
      data.push(value);
      dataChars += value.length;
    }
  }

  return {
    push(chunk) {
      const out: SseEvent[] = [];
      const text = decoder.write(chunk);
      let start = 0;
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
        rest.push(text.slice(start, end));
        const whole = rest.length === 1 ? (rest[0] as string) : rest.join('');
        rest = [];
        restChars = 0;
        start = end + 1;
        line(whole.endsWith('\r') ? whole.slice(0, -1) : whole, out);
      }
      if (start < text.length) {
        rest.push(text.slice(start));
        restChars += text.length - start;
      }
      if (restChars + dataChars > maxChars)
        throw new RangeError(`a server-sent event is longer than ${maxChars} characters`);
      return out;
    },
  };
}
