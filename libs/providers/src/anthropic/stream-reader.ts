import type { InboundCall, StreamReader } from '@sluice/contracts';
import { errorIn } from '../error-words.ts';
import {
  createEventReader,
  isDone,
  noteCut,
  noteMark,
  noteUsage,
  parseData,
  type StreamFacts,
} from '../event-reader.ts';
import type { SseEvent } from '../sse-codec.ts';
import { asObject, textLength } from '../token-count.ts';
import { anthropicFault, blockChars } from './read-whole.ts';
import { anthropicServed, anthropicUsage, mergeUsage } from './usage.ts';

type Json = Readonly<Record<string, unknown>>;

/** Reads a stream of message events. Input is counted at its start, output at its end. */
export function createAnthropicStreamReader(_call: InboundCall): StreamReader {
  /** What the stream has reported so far, as it was written. */
  let said: Json | undefined;
  let counted = false;

  function noteEnd(data: Json, facts: StreamFacts): void {
    const usage = asObject(data.usage);
    if (usage?.output_tokens !== undefined && usage.output_tokens !== null) {
      counted = true;
      noteReport(facts, (said = mergeUsage(said, usage)));
    } else if (!counted) {
      // A count from the stream's start says nothing of what was generated.
      facts.usage = undefined;
    }
    const reason = asObject(data.delta)?.stop_reason;
    if (typeof reason === 'string') facts.finishReason = reason;
    facts.contentSeen = true;
  }

  return createEventReader((event, facts) => {
    if (event.data === undefined) return 'forward';
    if (isDone(event)) {
      // A mark of the other dialect, which some send beside their own.
      if (facts.finishReason === undefined) noteCut(facts);
      return 'hide';
    }
    const data = eventOf(event, facts);
    if (data === undefined) return 'hide';
    switch (data.type) {
      case 'message_start': {
        const message = asObject(data.message);
        said = asObject(message?.usage);
        noteReport(facts, said);
        if (typeof message?.model === 'string') facts.model = message.model;
        return 'forward';
      }
      case 'content_block_start': {
        const block = asObject(data.content_block);
        const chars = blockChars(block);
        facts.outputChars += chars;
        if (chars > 0 || (block?.type !== 'text' && block?.type !== 'thinking')) facts.contentSeen = true;
        return 'forward';
      }
      case 'content_block_delta': {
        const delta = asObject(data.delta);
        facts.outputChars += textLength(delta?.text) + textLength(delta?.partial_json) + textLength(delta?.thinking);
        facts.contentSeen = true;
        facts.repeats = textOf(delta);
        return 'forward';
      }
      case 'message_delta':
        noteEnd(data, facts);
        return 'forward';
      case 'message_stop':
        // A count from the stream's start says nothing of what was generated.
        if (!counted) facts.usage = undefined;
        return noteMark(facts);
      default:
        return 'forward';
    }
  }, STOP);
}

const STOP = Buffer.from('event: message_stop\ndata: {"type":"message_stop"}\n\n');

/** Notes what a message has reported so far. */
export function noteReport(facts: StreamFacts, reported: Json | undefined): void {
  noteUsage(facts, anthropicUsage(reported));
  facts.served = anthropicServed(reported);
}

/** The data of an event; undefined when it is no object, or is an error, which is noted as the fault. */
export function eventOf(event: SseEvent, facts: StreamFacts): Json | undefined {
  const data = parseData(event);
  const object = asObject(data);
  const error =
    typeof object?.type === 'string' && object.type !== 'error' && event.event !== 'error'
      ? undefined
      : (errorIn(data) ?? (event.event === 'error' ? {} : undefined));
  if (error !== undefined) facts.fault = anthropicFault(error, 'in the stream');
  else if (object === undefined)
    facts.fault = { kind: 'malformed', status: 200, detail: 'an event of the stream is not a JSON object' };
  return error === undefined ? object : undefined;
}

/** The text of a delta and the member that holds it. */
function textOf(delta: Json | undefined): StreamFacts['repeats'] {
  for (const key of ['text', 'partial_json', 'thinking'] as const) {
    const value = delta?.[key];
    if (typeof value === 'string') return { key, value };
  }
  return undefined;
}
