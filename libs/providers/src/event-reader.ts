import type { StreamReader, TokenUsage, UpstreamFault } from '@sluice/contracts';
import { createSseDecoder, type SseEvent } from './sse-codec.ts';

/** What a dialect learns from its events; the fields are read by the relay. */
export interface StreamFacts {
  contentSeen: boolean;
  ended: boolean;
  fault: UpstreamFault | undefined;
  usage: TokenUsage | undefined;
  finishReason: string | undefined;
  model: string | undefined;
  outputChars: number;
}

/** Looks at one event and notes what it says; `hide` keeps it from the caller. */
export type Inspect = (event: SseEvent, facts: StreamFacts) => 'forward' | 'hide';

/** What may come before the first content, bytes; a provider that sends more of it is not answering. */
const MAX_PREAMBLE_BYTES = 256 * 1024;

/**
 * A stream reader over the events of one dialect. Whole events are forwarded, with their bytes as they came; the same
 * buffer goes on when it holds whole events only and none is hidden.
 */
export function createEventReader(inspect: Inspect, maxLineBytes?: number): StreamReader {
  const decoder = createSseDecoder(maxLineBytes);
  const facts: StreamFacts = { contentSeen: false, ended: false, fault: undefined, usage: undefined, finishReason: undefined, model: undefined, outputChars: 0 };
  /** The preamble: events before the first content. */
  let held: Buffer[] = [];
  let heldBytes = 0;

  return {
    push(chunk) {
      const startedWhole = decoder.pendingBytes === 0;
      const released = facts.contentSeen;
      const events = decoder.push(chunk);
      if (events.length === 0) return undefined;
      let hidden = false;
      const out: Buffer[] = [];
      for (const event of events) {
        // The caller hears of a provider's failure in our own words; nothing follows it, nor the stream's end.
        if (facts.ended || facts.fault !== undefined) hidden = true;
        else if (inspect(event, facts) === 'hide') hidden = true;
        else out.push(event.bytes);
      }
      if (!facts.contentSeen && !facts.ended) {
        for (const bytes of out) {
          held.push(bytes);
          heldBytes += bytes.length;
        }
        if (heldBytes > MAX_PREAMBLE_BYTES && facts.fault === undefined) {
          held = [];
          facts.fault = { kind: 'malformed', status: 200, detail: `no content within ${MAX_PREAMBLE_BYTES} bytes of the stream` };
        }
        return undefined;
      }
      if (released && !hidden && startedWhole && decoder.pendingBytes === 0) return chunk;
      const all = held.length === 0 ? out : [...held, ...out];
      held = [];
      if (all.length === 0) return undefined;
      return all.length === 1 ? all[0] : Buffer.concat(all);
    },
    get contentSeen() {
      return facts.contentSeen;
    },
    get ended() {
      return facts.ended;
    },
    get fault() {
      return facts.fault;
    },
    get usage() {
      return facts.usage;
    },
    get finishReason() {
      return facts.finishReason;
    },
    get model() {
      return facts.model;
    },
    get outputChars() {
      return facts.outputChars;
    },
    flush() {
      const rest = held.length === 0 ? undefined : Buffer.concat(held);
      held = [];
      return rest;
    },
  };
}

/** JSON of an event's data, or undefined when it cannot be read. */
export function parseData(event: SseEvent): unknown {
  try {
    return JSON.parse(event.data ?? '');
  } catch {
    return undefined;
  }
}
