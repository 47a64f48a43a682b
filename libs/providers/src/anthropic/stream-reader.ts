import type { InboundCall, StreamReader } from '@sluice/contracts';
import { kindOfError } from '../classify-status.ts';
import { createEventReader, parseData, type StreamFacts } from '../event-reader.ts';
import { asObject, textLength } from '../token-count.ts';
import { anthropicUsage } from './usage.ts';

type Json = Readonly<Record<string, unknown>>;

/** Reads a stream of message events. Input is counted at its start, output at its end. */
export function createAnthropicStreamReader(_call: InboundCall): StreamReader {
  /** What the stream's start reported, as it was written. */
  let started: Json | undefined;
  let counted = false;

  function noteEnd(data: Json, facts: StreamFacts): void {
    const usage = asObject(data.usage);
    if (usage?.output_tokens !== undefined && usage.output_tokens !== null) {
      counted = true;
      // Counts are cumulative: what the end repeats replaces what the start said, and is not added to it.
      facts.usage = anthropicUsage({ ...started, ...defined(usage) });
    }
    const reason = asObject(data.delta)?.stop_reason;
    if (typeof reason === 'string') facts.finishReason = reason;
    facts.contentSeen = true;
  }

  return createEventReader((event, facts) => {
    if (event.data === undefined) return 'forward';
    const data = asObject(parseData(event));
    if (data === undefined) {
      facts.fault = { kind: 'malformed', status: 200, detail: 'an event of the stream is not a JSON object' };
      return 'hide';
    }
    switch (data.type) {
      case 'message_start': {
        const message = asObject(data.message);
        started = asObject(message?.usage);
        facts.usage = anthropicUsage(started);
        if (typeof message?.model === 'string') facts.model = message.model;
        return 'forward';
      }
      case 'content_block_start': {
        const block = asObject(data.content_block);
        if (block?.type !== 'text' && block?.type !== 'thinking') {
          facts.contentSeen = true;
          facts.outputChars += textLength(block?.name);
        }
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
        facts.ended = true;
        // A count from the stream's start says nothing of what was generated.
        if (!counted) facts.usage = undefined;
        return 'forward';
      case 'error': {
        const error = asObject(data.error) ?? {};
        facts.fault = {
          kind: kindOfError(error),
          status: 200,
          detail: `an error in the stream: ${String(error.type)}`,
        };
        return 'hide';
      }
      default:
        return 'forward';
    }
  });
}

/** The text of a delta and the member that holds it. */
function textOf(delta: Json | undefined): StreamFacts['repeats'] {
  for (const key of ['text', 'partial_json', 'thinking'] as const) {
    const value = delta?.[key];
    if (typeof value === 'string') return { key, value };
  }
  return undefined;
}

function defined(source: Json | undefined): Json {
  return Object.fromEntries(Object.entries(source ?? {}).filter(([, value]) => value !== undefined && value !== null));
}
