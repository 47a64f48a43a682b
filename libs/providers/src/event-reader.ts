import type { ServedUse, StreamReader, TokenUsage, UpstreamFault } from '@sluice/contracts';
import { learnTemplate, type EventTemplate } from './event-template.ts';
import { parseText } from './json-shape.ts';
import { createSseDecoder, type SseEvent } from './sse-codec.ts';
import { textLength } from './token-count.ts';

/** What a dialect learns from its events; the fields are read by the relay. */
export interface StreamFacts {
  contentSeen: boolean;
  ended: boolean;
  fault: UpstreamFault | undefined;
  usage: TokenUsage | undefined;
  /** `outputChars` when `usage` was reported. */
  countedChars: number;
  served: ServedUse | undefined;
  finishReason: string | undefined;
  model: string | undefined;
  outputChars: number;
  /**
   * Set by an inspection that found nothing in the event but text, in this member: events that differ from it in
   * nothing else need no inspection. Whatever else the event counts is counted for each of them.
   */
  repeats: { readonly key: string; readonly value: string } | undefined;
}

/** Looks at one event and notes what it says; `hide` keeps it from the caller. */
export type Inspect = (event: SseEvent, facts: StreamFacts) => 'forward' | 'hide';

/** What may come before the first content, bytes; a provider that sends more of it is not answering. */
const MAX_PREAMBLE_BYTES = 256 * 1024;

/** Longer buffers are read event by event: this is what one read of a socket gives. */
const SKIM_BYTES = 64 * 1024;
/** Wordings that are remembered: one for each choice or kind of text that comes in turn. */
const MAX_TEMPLATES = 4;

/** An event's wording, and what each such event counts beside its text. */
interface Known {
  readonly template: EventTemplate;
  readonly moreChars: number;
}

/**
 * A stream reader over the events of one dialect. Whole events are forwarded, with their bytes as they came; the same
 * buffer goes on when it holds whole events only and none is hidden.
 *
 * @param ending the dialect's mark, for a complete answer that came without it.
 */
export function createEventReader(inspect: Inspect, ending: Buffer, maxLineBytes?: number): StreamReader {
  const decoder = createSseDecoder(maxLineBytes);
  const facts: StreamFacts = {
    contentSeen: false,
    ended: false,
    fault: undefined,
    usage: undefined,
    countedChars: 0,
    served: undefined,
    finishReason: undefined,
    model: undefined,
    outputChars: 0,
    repeats: undefined,
  };
  /** The preamble: events before the first content. */
  let held: Buffer[] = [];
  let heldBytes = 0;
  const known: Known[] = [];
  let learned = 0;

  /** True when the buffer holds whole events of known wording only, which are counted then. */
  function skim(chunk: Buffer): boolean {
    const text = chunk.toString('latin1');
    let chars = 0;
    for (let start = 0; start < text.length;) {
      const end = text.indexOf('\n\n', start) + 2;
      if (end < 2) return false;
      const found = measure(text, chunk, start, end);
      if (found < 0) return false;
      chars += found;
      start = end;
    }
    facts.outputChars += chars;
    return true;
  }

  function measure(text: string, chunk: Buffer, start: number, end: number): number {
    for (let i = 0; i < known.length; i += 1) {
      const { template, moreChars } = known[i] as Known;
      const chars = template.measure(text, chunk, start, end);
      if (chars >= 0) return chars + moreChars;
    }
    return -1;
  }

  function look(event: SseEvent): 'forward' | 'hide' {
    const before = facts.outputChars;
    const verdict = inspect(event, facts);
    if (facts.repeats !== undefined) learn(event, facts.repeats, facts.outputChars - before);
    facts.repeats = undefined;
    return verdict;
  }

  function learn(event: SseEvent, { key, value }: NonNullable<StreamFacts['repeats']>, chars: number): void {
    const template = learnTemplate(event.bytes, key, value);
    if (template === undefined) return;
    known[learned % MAX_TEMPLATES] = { template, moreChars: chars - textLength(value) };
    learned += 1;
  }

  /** The events' bytes, and before them what was kept back until the first content. */
  function release(out: readonly Buffer[]): Buffer | undefined {
    const all = held.length === 0 ? out : [...held, ...out];
    held = [];
    if (all.length === 0) return undefined;
    return all.length === 1 ? all[0] : Buffer.concat(all);
  }

  return {
    push(chunk) {
      if (
        learned > 0 &&
        decoder.pendingBytes === 0 &&
        facts.contentSeen &&
        !facts.ended &&
        facts.fault === undefined &&
        chunk.length <= SKIM_BYTES &&
        skim(chunk)
      )
        return chunk;
      const startedWhole = decoder.pendingBytes === 0;
      const released = facts.contentSeen;
      const events = decoder.push(chunk);
      if (events.length === 0) return undefined;
      let hidden = false;
      const out: Buffer[] = [];
      for (const event of events) {
        // The caller hears of a provider's failure in our own words; nothing follows it, nor the stream's end.
        if (facts.ended || facts.fault !== undefined) hidden = true;
        else if (look(event) === 'hide') hidden = true;
        else out.push(event.bytes);
      }
      if (!facts.contentSeen && !facts.ended) {
        for (const bytes of out) {
          held.push(bytes);
          heldBytes += bytes.length;
        }
        if (heldBytes > MAX_PREAMBLE_BYTES && facts.fault === undefined) {
          held = [];
          facts.fault = {
            kind: 'malformed',
            status: 200,
            detail: `no content within ${MAX_PREAMBLE_BYTES} bytes of the stream`,
          };
        }
        return undefined;
      }
      if (released && !hidden && startedWhole && decoder.pendingBytes === 0) return chunk;
      return release(out);
    },
    end() {
      if (facts.ended || facts.fault !== undefined) return undefined;
      const out: Buffer[] = [];
      const last = decoder.end();
      if (last !== undefined && isWhole(last) && look(last) === 'forward') out.push(last.bytes);
      endWithoutMark(facts, () => out.push(ending));
      if (facts.contentSeen || facts.ended) return release(out);
      held.push(...out);
      return undefined;
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
    get countedChars() {
      return facts.countedChars;
    },
    get served() {
      return facts.served;
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

/** Notes a count of tokens, and how much of the answer it can be of: what its own event says is to be noted before. */
export function noteUsage(facts: StreamFacts, usage: TokenUsage | undefined): void {
  facts.usage = usage;
  facts.countedChars = facts.outputChars;
}

/** True for an event that can be read: one that was cut off in the middle of its data is no event. */
export function isWhole(event: SseEvent): boolean {
  return isDone(event) || parseData(event) !== undefined;
}

/** OpenAI's mark for the end of a stream, which others send too. */
export function isDone({ data }: SseEvent): boolean {
  return data !== undefined && data.length <= 64 && data.trim() === '[DONE]';
}

/** An answer that has said why it finished is complete when the connection ends in good order. */
export function endWithoutMark(facts: StreamFacts, addMark: () => void): void {
  if (facts.ended || facts.fault !== undefined || facts.finishReason === undefined) return;
  facts.ended = true;
  addMark();
}

/** The dialect's mark of the end: without content and without a reason for a finish, of something broken. */
export function noteMark(facts: StreamFacts): 'forward' | 'hide' {
  if (facts.finishReason === undefined && !facts.contentSeen) {
    noteCut(facts);
    return 'hide';
  }
  facts.ended = true;
  return 'forward';
}

/** The answer ends here, and is not complete. */
export function noteCut(facts: StreamFacts): void {
  facts.fault = { kind: 'truncated', status: 200, detail: 'the stream ended without a reason for its finish' };
}

/** JSON of an event's data, or undefined when it cannot be read. */
export function parseData(event: SseEvent): unknown {
  return parseText(event.data ?? '');
}
