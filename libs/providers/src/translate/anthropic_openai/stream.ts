import type { StreamReader } from '@sluice/contracts';
import { kindOfError } from '../../classify-status.ts';
import { parseData, type StreamFacts } from '../../event-reader.ts';
import { asObject, textLength } from '../../token-count.ts';
import { openaiUsage } from '../../openai/usage.ts';
import { asArray, asText, type Json } from '../carrier.ts';
import { createTranslatingReader } from '../translating-reader.ts';
import { stopReasonOf } from './stop-reason.ts';
import { anthropicUsageOf, guessedUsage } from './usage.ts';

const event = (type: string, rest: string): string => `event: ${type}\ndata: {"type":"${type}"${rest}}\n\n`;

/**
 * A stream of chat completion chunks as Anthropic's events. Blocks follow each other: one ends where the next
 * begins. The counts come with the end, because only then does the provider give them.
 */
export function createMessageEventReader(): StreamReader {
  let started = false;
  let finishReason: string | undefined;
  let refused = false;
  /** Index of the block that is open, or was last. */
  let block = -1;
  let open: 'text' | 'tool' | undefined;
  /** Tool calls by the provider's index; the last one is open while `open` is `tool`. */
  const tools = new Map<unknown, number>();

  function start(chunk: Json): string {
    started = true;
    const message = {
      id: asText(chunk.id) ?? '',
      type: 'message',
      role: 'assistant',
      model: asText(chunk.model) ?? '',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
    };
    return event('message_start', `,"message":${JSON.stringify(message)}`);
  }

  function close(): string {
    if (open === undefined) return '';
    open = undefined;
    return event('content_block_stop', `,"index":${block}`);
  }

  function begin(kind: 'text' | 'tool', content: string): string {
    const out = close();
    block += 1;
    open = kind;
    return `${out}${event('content_block_start', `,"index":${block},"content_block":${content}`)}`;
  }

  function text(value: string, facts: StreamFacts): string {
    facts.outputChars += textLength(value);
    facts.contentSeen = true;
    const out = open === 'text' ? '' : begin('text', '{"type":"text","text":""}');
    return `${out}${event('content_block_delta', `,"index":${block},"delta":{"type":"text_delta","text":${JSON.stringify(value)}}`)}`;
  }

  function tool(call: Json, facts: StreamFacts): string {
    const made = asObject(call.function);
    const key = call.index ?? 0;
    let out = '';
    let at = tools.get(key);
    if (at === undefined) {
      const name = asText(made?.name) ?? '';
      facts.outputChars += textLength(name);
      facts.contentSeen = true;
      out = begin(
        'tool',
        `{"type":"tool_use","id":${JSON.stringify(call.id ?? '')},"name":${JSON.stringify(name)},"input":{}}`,
      );
      at = block;
      tools.set(key, at);
    }
    const args = asText(made?.arguments) ?? '';
    if (args === '') return out;
    if (at !== block || open !== 'tool') {
      facts.fault = { kind: 'malformed', status: 200, detail: 'arguments of a tool call that another one had ended' };
      return '';
    }
    facts.outputChars += textLength(args);
    return `${out}${event('content_block_delta', `,"index":${block},"delta":{"type":"input_json_delta","partial_json":${JSON.stringify(args)}}`)}`;
  }

  function choice(value: Json | undefined, facts: StreamFacts): string {
    const delta = asObject(value?.delta);
    let out = '';
    const content = delta?.content;
    if (typeof content === 'string' && content !== '') out += text(content, facts);
    const refusal = delta?.refusal;
    if (typeof refusal === 'string' && refusal !== '') {
      refused = true;
      out += text(refusal, facts);
    }
    for (const call of asArray(delta?.tool_calls) ?? []) out += tool(asObject(call) ?? {}, facts);
    if (typeof delta?.reasoning_content === 'string') {
      facts.outputChars += textLength(delta.reasoning_content);
      facts.contentSeen = true;
    }
    if (typeof value?.finish_reason === 'string') {
      facts.finishReason ??= finishReason = value.finish_reason;
      facts.contentSeen = true;
    }
    return out;
  }

  function stop(facts: StreamFacts): string {
    facts.ended = true;
    const delta = { stop_reason: refused ? 'refusal' : stopReasonOf(finishReason), stop_sequence: null };
    const usage = facts.usage === undefined ? guessedUsage(facts.outputChars) : anthropicUsageOf(facts.usage);
    return `${close()}${event('message_delta', `,"delta":${JSON.stringify(delta)},"usage":${JSON.stringify(usage)}`)}${event('message_stop', '')}`;
  }

  return createTranslatingReader((sse, facts) => {
    if (sse.data === undefined) return '';
    if (sse.data === '[DONE]') return started ? stop(facts) : malformed(facts, 'the stream ended before it began');
    const chunk = asObject(parseData(sse));
    if (chunk === undefined) return malformed(facts, 'an event of the stream is not a JSON object');
    const error = asObject(chunk.error);
    if (error !== undefined) {
      facts.fault = {
        kind: kindOfError(error),
        status: 200,
        detail: `an error in the stream: ${String(error.code ?? error.type)}`,
      };
      return '';
    }
    if (typeof chunk.model === 'string') facts.model ??= chunk.model;
    const usage = openaiUsage(chunk.usage);
    if (usage !== undefined) facts.usage = usage;
    const out = started ? '' : start(chunk);
    const choices = asArray(chunk.choices);
    return choices === undefined || choices.length === 0 ? out : out + choice(asObject(choices[0]), facts);
  });
}

function malformed(facts: StreamFacts, detail: string): string {
  facts.fault = { kind: 'malformed', status: 200, detail };
  return '';
}
