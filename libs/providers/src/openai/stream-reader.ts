import type { InboundCall, StreamReader } from '@sluice/contracts';
import { kindOfError } from '../classify-status.ts';
import { createEventReader, parseData, type StreamFacts } from '../event-reader.ts';
import { asObject, textLength } from '../token-count.ts';
import { otherChars } from './read-whole.ts';
import { openaiUsage } from './usage.ts';

/** Reads a stream of chat completion chunks; the usage chunk is kept from callers that did not ask for it. */
export function createOpenaiStreamReader({ wantsUsage }: InboundCall): StreamReader {
  return createEventReader((event, facts) => {
    if (event.data === undefined) return 'forward';
    if (event.data === '[DONE]') {
      facts.ended = true;
      return 'forward';
    }
    const chunk = asObject(parseData(event));
    if (chunk === undefined) {
      facts.fault = { kind: 'malformed', status: 200, detail: 'an event of the stream is not a JSON object' };
      return 'hide';
    }
    const error = asObject(chunk.error);
    if (error !== undefined) {
      facts.fault = {
        kind: kindOfError(error),
        status: 200,
        detail: `an error in the stream: ${String(error.code ?? error.type)}`,
      };
      return 'hide';
    }
    if (typeof chunk.model === 'string') facts.model ??= chunk.model;
    // The last word counts, also when it is senseless: an earlier count of a running stream says nothing of its end.
    if (asObject(chunk.usage) !== undefined) facts.usage = openaiUsage(chunk.usage);
    const choices = Array.isArray(chunk.choices) ? chunk.choices : [];
    for (const choice of choices) noteChoice(asObject(choice), facts);
    if (choices.length === 1 && asObject(chunk.usage) === undefined)
      facts.repeats = textOf(asObject(asObject(choices[0])?.delta));
    // Counts that cannot be used are no less the chunk that the caller did not ask for.
    return asObject(chunk.usage) !== undefined && choices.length === 0 && !wantsUsage ? 'hide' : 'forward';
  });
}

function noteChoice(choice: Readonly<Record<string, unknown>> | undefined, facts: StreamFacts): void {
  const delta = asObject(choice?.delta);
  const chars = textLength(delta?.content) + otherChars(delta);
  facts.outputChars += chars;
  if (chars > 0 || asObject(delta?.audio) !== undefined) facts.contentSeen = true;
  if (typeof choice?.finish_reason === 'string') {
    facts.finishReason ??= choice.finish_reason;
    facts.contentSeen = true;
  }
}

/** The text of a delta and the member that holds it. */
function textOf(delta: Readonly<Record<string, unknown>> | undefined): StreamFacts['repeats'] {
  if (delta === undefined) return undefined;
  if (typeof delta.content === 'string' && delta.content !== '') return { key: 'content', value: delta.content };
  if (typeof delta.reasoning_content === 'string') return { key: 'reasoning_content', value: delta.reasoning_content };
  const [call] = Array.isArray(delta.tool_calls) ? (delta.tool_calls as unknown[]) : [];
  const args = asObject(asObject(call)?.function)?.arguments;
  return typeof args === 'string' ? { key: 'arguments', value: args } : undefined;
}
