/** One server-sent event. */
export interface StreamEvent {
  /** `message` when the stream does not name it. */
  readonly event: string;
  readonly data: string;
}

/** Longest line that is read; a longer one means that this is no event stream. Characters. */
const MOST_LINE = 4_000_000;

/**
 * Reads server-sent events as they come, whatever the cuts between the pieces. Comments are left out; an event that
 * was not ended by a blank line when the stream stops is not one (HTML standard, section 9.2.6).
 *
 * @throws RangeError for a line of more than four million characters.
 */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = '';
  let event = 'message';
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      if (rest.length > MOST_LINE) throw new RangeError('The answer is not a stream of events.');
      for (const line of lines) {
        if (line === '') {
          if (data.length > 0) yield { event, data: data.join('\n') };
          event = 'message';
          data = [];
          continue;
        }
        const colon = line.indexOf(':');
        const field = colon < 0 ? line : line.slice(0, colon);
        const text = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
        if (field === 'event') event = text;
        if (field === 'data') data.push(text);
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
