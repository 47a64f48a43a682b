import { randomUUID } from 'node:crypto';
import { inputTokens, outputTokens, type ExpectedInput, type StreamReader, type TokenUsage } from '@sluice/contracts';
import { isDone, noteMark, type StreamFacts } from '../../event-reader.ts';
import { asObject } from '../../token-count.ts';
import { chunkOf, noteCount, noteDelta } from '../../openai/stream-reader.ts';
import { anthropicFaultOf } from './error.ts';
import { asArray, asText, type Json } from '../carrier.ts';
import { rawTexts } from '../raw-json.ts';
import { createTranslatingReader } from '../translating-reader.ts';
import { answerText } from './answer-text.ts';
import { event, MessageBlocks } from './message-blocks.ts';
import { stopReasonOf } from './stop-reason.ts';
import { anthropicUsageOf, guessedUsage } from './usage.ts';

const ARGUMENTS = ['choices', '*', 'delta', 'tool_calls', '*', 'function', 'arguments'];

/**
 * A stream of chat completion chunks as Anthropic's events. The counts come with the end, because only then does the
 * provider give them.
 */
export function createMessageEventReader(expectedInput: ExpectedInput): StreamReader {
  const blocks = new MessageBlocks();
  let started = false;
  let refused = false;
  let id = '';

  /** Told with the first content: by then a chunk has said who answers. */
  function start(facts: StreamFacts): string {
    started = true;
    id ||= `msg_${randomUUID()}`;
    const message = {
      id,
      type: 'message',
      role: 'assistant',
      model: facts.model ?? '',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: guessedUsage(expectedInput(), 0),
    };
    return event('message_start', `,"message":${JSON.stringify(message)}`);
  }

  function choice(value: Json, data: string, facts: StreamFacts): string {
    const delta = asObject(value.delta);
    noteDelta(delta, facts);
    if (typeof value.finish_reason === 'string' && value.finish_reason !== '') {
      facts.finishReason ??= value.finish_reason;
      facts.contentSeen = true;
    }
    if (!facts.contentSeen) return '';
    const begin = started ? '' : start(facts);
    if (delta === undefined) return begin;
    const text = answerText(delta.content);
    if (text === undefined) return malformed(facts, 'content that is neither text nor parts of text');
    const refusal = asText(delta.refusal) ?? '';
    if (refusal !== '') refused = true;
    const out = begin + blocks.text(text) + blocks.text(refusal) + tools(delta, data, facts);
    return blocks.broken === undefined ? out : malformed(facts, blocks.broken);
  }

  function tools(delta: Json, data: string, facts: StreamFacts): string {
    let out = '';
    for (const [i, item] of (asArray(delta.tool_calls) ?? []).entries()) {
      const call = asObject(item);
      if (call !== undefined)
        out += blocks.tool(call, argumentsOf(asObject(call.function)?.arguments, data, i, facts), id);
    }
    const old = asObject(delta.function_call);
    if (old !== undefined) out += blocks.tool({ index: -1, function: old }, asText(old.arguments) ?? '', id);
    return out;
  }

  function argumentsOf(value: unknown, data: string, index: number, facts: StreamFacts): string {
    if (value === undefined || value === null) return '';
    if (typeof value === 'string') return value;
    if (asObject(value) === undefined) malformed(facts, 'arguments that are neither text nor an object');
    return rawTexts(data, ARGUMENTS).get(`0.${index}`) ?? '';
  }

  function finish(facts: StreamFacts): string {
    const begin = started ? '' : start(facts);
    const rest = blocks.finish(facts.finishReason === 'length');
    if (blocks.broken !== undefined) {
      facts.ended = false;
      return malformed(facts, blocks.broken);
    }
    const delta = { stop_reason: stopReasonOf(facts.finishReason, blocks.hasTools, refused), stop_sequence: null };
    const usage = isCounted(facts) ? anthropicUsageOf(facts.usage) : guessed(facts);
    return `${begin}${rest}${event('message_delta', `,"delta":${JSON.stringify(delta)},"usage":${JSON.stringify(usage)}`)}${event('message_stop', '')}`;
  }

  /** Of a count that came before more content the input holds, and the output is at least what the text comes to. */
  function guessed({ usage, outputChars }: StreamFacts): Json {
    const input = usage === undefined || inputTokens(usage) === 0 ? undefined : usage;
    const guess = guessedUsage(input === undefined ? expectedInput() : 0, outputChars);
    if (usage === undefined) return guess;
    const output = Math.max(outputTokens(usage), Number(guess.output_tokens));
    return input === undefined
      ? { ...guess, output_tokens: output }
      : { ...anthropicUsageOf(input), output_tokens: output };
  }

  return createTranslatingReader((sse, facts) => {
    if (sse.data === undefined) return '';
    if (isDone(sse)) return noteMark(facts) === 'hide' ? '' : finish(facts);
    const chunk = chunkOf(sse, facts);
    if (chunk === undefined) {
      if (facts.fault !== undefined) facts.fault = anthropicFaultOf(facts.fault);
      return '';
    }
    // The first chunk of some has neither: it only tells what a filter made of the prompt.
    if (typeof chunk.model === 'string' && chunk.model !== '') facts.model ??= chunk.model;
    id ||= asText(chunk.id) ?? '';
    const first = asObject(asArray(chunk.choices)?.[0]);
    const out = first === undefined ? '' : choice(first, sse.data, facts);
    noteCount(chunk, facts);
    return out;
  }, finish);
}

function isCounted(facts: StreamFacts): facts is StreamFacts & { usage: TokenUsage } {
  return facts.usage !== undefined && facts.outputChars <= facts.countedChars;
}

function malformed(facts: StreamFacts, detail: string): string {
  facts.fault ??= { kind: 'malformed', status: 200, detail };
  return '';
}
