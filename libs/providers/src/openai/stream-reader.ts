import { totalTokens, type InboundCall, type StreamReader } from '@sluice/contracts';
import { errorIn, errorOfChoice, faultOfError } from '../error-words.ts';
import { createEventReader, isDone, noteMark, noteUsage, parseData, type StreamFacts } from '../event-reader.ts';
import type { SseEvent } from '../sse-codec.ts';
import { asObject, textLength } from '../token-count.ts';
import { contentLength, otherChars } from './read-whole.ts';
import { openaiServed } from './served.ts';
import { openaiUsage } from './usage.ts';

/** Reads a stream of chat completion chunks; the usage chunk is kept from callers that did not ask for it. */
export function createOpenaiStreamReader({ wantsUsage }: InboundCall): StreamReader {
  return createEventReader((event, facts) => {
    if (event.data === undefined) return 'forward';
    if (isDone(event)) return noteMark(facts);
    const chunk = chunkOf(event, facts);
    if (chunk === undefined) return 'hide';
    if (typeof chunk.model === 'string') facts.model ??= chunk.model;
    const choices = Array.isArray(chunk.choices) ? chunk.choices : [];
    for (const choice of choices) noteChoice(asObject(choice), facts);
    noteCount(chunk, facts);
    if (choices.length === 1 && asObject(chunk.usage) === undefined)
      facts.repeats = textOf(asObject(asObject(choices[0])?.delta));
    // Counts that cannot be used are no less the chunk that the caller did not ask for.
    return asObject(chunk.usage) !== undefined && choices.length === 0 && !wantsUsage ? 'hide' : 'forward';
  }, DONE);
}

/**
 * Notes what a chunk counts and how it was served. Counts are cumulative, so that a smaller one does not replace a
 * larger; a senseless last word does: an earlier count of a running stream says nothing of its end.
 */
export function noteCount(chunk: Readonly<Record<string, unknown>>, facts: StreamFacts): void {
  if (asObject(chunk.usage) !== undefined) {
    const usage = openaiUsage(chunk.usage);
    const isLess = usage !== undefined && facts.usage !== undefined && totalTokens(usage) < totalTokens(facts.usage);
    noteUsage(facts, isLess ? facts.usage : usage);
  }
  const served = openaiServed(chunk);
  if (served !== undefined) facts.served = { ...facts.served, ...served };
}

const DONE = Buffer.from('data: [DONE]\n\n');

/** The chunk of an event; undefined when it is none, or says that the answer has failed, which is noted as the fault. */
export function chunkOf(event: SseEvent, facts: StreamFacts): Readonly<Record<string, unknown>> | undefined {
  const data = parseData(event);
  const error = errorIn(data) ?? errorOfChoice(asObject(data)) ?? (event.event === 'error' ? {} : undefined);
  if (error !== undefined) {
    facts.fault = faultOfError(error, 'in the stream');
    return undefined;
  }
  const chunk = asObject(data);
  if (chunk === undefined)
    facts.fault = { kind: 'malformed', status: 200, detail: 'an event of the stream is not a JSON object' };
  return chunk;
}

function noteChoice(choice: Readonly<Record<string, unknown>> | undefined, facts: StreamFacts): void {
  noteDelta(asObject(choice?.delta), facts);
  if (typeof choice?.finish_reason === 'string' && choice.finish_reason !== '') {
    facts.finishReason ??= choice.finish_reason;
    facts.contentSeen = true;
  }
  // Completions of the old kind have their text here.
  if (typeof choice?.text === 'string' && choice.text !== '') {
    facts.outputChars += textLength(choice.text);
    facts.contentSeen = true;
  }
}

/** Counts what a delta says. Whatever stands in it beside the role is content, also what no dialect knows yet. */
export function noteDelta(delta: Readonly<Record<string, unknown>> | undefined, facts: StreamFacts): void {
  if (delta === undefined) return;
  const chars = contentLength(delta.content) + otherChars(delta);
  let unknown = 0;
  for (const key in delta) {
    if (key === 'role') continue;
    const value = delta[key];
    if (isNothing(value)) continue;
    facts.contentSeen = true;
    if (chars === 0 && typeof value === 'string') unknown += textLength(value);
  }
  facts.outputChars += chars + unknown;
}

function isNothing(value: unknown): boolean {
  if (typeof value === 'string') return value === '';
  if (Array.isArray(value)) return value.length === 0;
  const object = asObject(value);
  return object === undefined || Object.keys(object).length === 0;
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
