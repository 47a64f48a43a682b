import type { StreamReader } from '@sluice/contracts';
import { endWithoutMark, isWhole, type StreamFacts } from '../event-reader.ts';
import { createSseDecoder, type SseEvent } from '../sse-codec.ts';

/**
 * One event of a provider as what the caller reads of it: the text of none, one or several events. Facts are noted
 * on the way.
 */
export type TranslateEvent = (event: SseEvent, facts: StreamFacts) => string;

/** What may come before the first content, bytes; a provider that sends more of it is not answering. */
const MAX_PREAMBLE_BYTES = 256 * 1024;

/**
 * A stream reader that gives the events of another dialect. What a chunk holds becomes one buffer; what comes
 * before the first content is kept back. Any split of the bytes gives the same text.
 *
 * @param finish the end of a complete answer whose stream had no mark.
 */
export function createTranslatingReader(
  translate: TranslateEvent,
  finish: (facts: StreamFacts) => string,
  maxLineBytes?: number,
): StreamReader {
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
  /** The preamble, translated. */
  let held = '';
  let preambleBytes = 0;

  function release(out: string): Buffer | undefined {
    const all = held + out;
    held = '';
    return all === '' ? undefined : Buffer.from(all);
  }

  return {
    push(chunk) {
      let out = '';
      for (const event of decoder.push(chunk)) {
        // The caller hears of a provider's failure in our own words; nothing follows it, nor the stream's end.
        if (facts.ended || facts.fault !== undefined) break;
        if (!facts.contentSeen) preambleBytes += event.bytes.length;
        out += translate(event, facts);
      }
      if (!facts.contentSeen && !facts.ended) {
        held += out;
        if (preambleBytes > MAX_PREAMBLE_BYTES && facts.fault === undefined) {
          held = '';
          facts.fault = {
            kind: 'malformed',
            status: 200,
            detail: `no content within ${MAX_PREAMBLE_BYTES} bytes of the stream`,
          };
        }
        return undefined;
      }
      return release(out);
    },
    end() {
      if (facts.ended || facts.fault !== undefined) return undefined;
      const last = decoder.end();
      let out = last !== undefined && isWhole(last) ? translate(last, facts) : '';
      endWithoutMark(facts, () => {
        out += finish(facts);
      });
      if (facts.contentSeen || facts.ended) return release(out);
      held += out;
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
      const rest = held === '' ? undefined : Buffer.from(held);
      held = '';
      return rest;
    },
  };
}
