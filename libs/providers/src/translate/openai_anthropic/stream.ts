import type { InboundCall, StreamReader } from '@sluice/contracts';
import { kindOfError } from '../../classify-status.ts';
import { parseData, type StreamFacts } from '../../event-reader.ts';
import { asObject, textLength, tokenCount } from '../../token-count.ts';
import { anthropicUsage } from '../../anthropic/usage.ts';
import { asText, type Json } from '../carrier.ts';
import { createTranslatingReader } from '../translating-reader.ts';
import { finishReasonOf } from './finish-reason.ts';
import { JSON_TOOL } from './tools.ts';
import { openaiUsageOf } from './usage.ts';

/** A stream of Anthropic's message events as chat completion chunks, each built in one piece. */
export function createChatChunkReader({ wantsUsage }: InboundCall, nowMs: () => number): StreamReader {
  /** What every chunk begins with, up to its delta. */
  let head = '';
  let started: Json = {};
  let counted = false;
  let stopReason: unknown;
  let isJsonAnswer = false;
  /** Tool calls so far; each block of a tool is one call in order. */
  let calls = 0;
  /** What the open block gives. */
  let open: 'text' | 'call' | 'json' | 'nothing' = 'nothing';

  const chunk = (delta: string, finish = 'null'): string =>
    `${head}${delta},"logprobs":null,"finish_reason":${finish}}]}\n\n`;

  function start(message: Json | undefined, facts: StreamFacts): string {
    const model = asText(message?.model);
    facts.model = model;
    started = asObject(message?.usage) ?? {};
    facts.usage = anthropicUsage(message?.usage);
    const frame = {
      id: asText(message?.id) ?? '',
      object: 'chat.completion.chunk',
      created: Math.floor(nowMs() / 1000),
      model: model ?? '',
    };
    head = `data: ${JSON.stringify(frame).slice(0, -1)},"choices":[{"index":0,"delta":`;
    return chunk('{"role":"assistant","content":"","refusal":null}');
  }

  function startBlock(block: Json | undefined, facts: StreamFacts): string {
    if (block?.type === 'text') {
      open = 'text';
      const text = asText(block.text) ?? '';
      return text === '' ? '' : content(text, facts);
    }
    if (block?.type !== 'tool_use') {
      open = 'nothing';
      return '';
    }
    facts.contentSeen = true;
    facts.outputChars += textLength(block.name);
    if (block.name === JSON_TOOL) {
      open = 'json';
      isJsonAnswer = true;
      return '';
    }
    open = 'call';
    calls += 1;
    return chunk(
      `{"tool_calls":[{"index":${calls - 1},"id":${JSON.stringify(block.id ?? '')},"type":"function","function":{"name":${JSON.stringify(block.name ?? '')},"arguments":""}}]}`,
    );
  }

  function content(text: string, facts: StreamFacts): string {
    facts.outputChars += textLength(text);
    facts.contentSeen = true;
    return chunk(`{"content":${JSON.stringify(text)}}`);
  }

  function delta(value: Json | undefined, facts: StreamFacts): string {
    if (typeof value?.text === 'string') return content(value.text, facts);
    if (typeof value?.partial_json === 'string') {
      if (value.partial_json === '') return '';
      if (open === 'json') return content(value.partial_json, facts);
      facts.outputChars += textLength(value.partial_json);
      return chunk(
        `{"tool_calls":[{"index":${calls - 1},"function":{"arguments":${JSON.stringify(value.partial_json)}}}]}`,
      );
    }
    // Thoughts are not shown, but they are output: the answer has begun.
    if (typeof value?.thinking === 'string') facts.contentSeen = true;
    facts.outputChars += textLength(value?.thinking);
    return '';
  }

  function end(data: Json, facts: StreamFacts): string {
    const usage = asObject(data.usage);
    if (tokenCount(usage?.output_tokens) !== undefined) {
      counted = true;
      facts.usage = anthropicUsage({ input_tokens: 0, ...started, ...defined(usage) });
    }
    const reason = asObject(data.delta)?.stop_reason;
    if (typeof reason === 'string') facts.finishReason = stopReason = reason;
    facts.contentSeen = true;
    return '';
  }

  function stop(facts: StreamFacts): string {
    facts.ended = true;
    // A count from the stream's start says nothing of what was generated.
    if (!counted) facts.usage = undefined;
    const usage =
      wantsUsage && facts.usage !== undefined
        ? `${head.slice(0, head.indexOf('{"index":0'))}],"usage":${JSON.stringify(openaiUsageOf(facts.usage))}}\n\n`
        : '';
    return `${chunk('{}', JSON.stringify(finishReasonOf(stopReason, isJsonAnswer)))}${usage}data: [DONE]\n\n`;
  }

  return createTranslatingReader((event, facts) => {
    if (event.data === undefined) return '';
    const data = asObject(parseData(event));
    if (data === undefined) {
      facts.fault = { kind: 'malformed', status: 200, detail: 'an event of the stream is not a JSON object' };
      return '';
    }
    switch (data.type) {
      case 'content_block_delta':
        return head === '' ? early(facts) : delta(asObject(data.delta), facts);
      case 'content_block_start':
        return head === '' ? early(facts) : startBlock(asObject(data.content_block), facts);
      case 'message_start':
        return start(asObject(data.message), facts);
      case 'message_delta':
        return end(data, facts);
      case 'message_stop':
        return head === '' ? early(facts) : stop(facts);
      case 'error': {
        const error = asObject(data.error) ?? {};
        facts.fault = {
          kind: kindOfError(error),
          status: 200,
          detail: `an error in the stream: ${String(error.type)}`,
        };
        return '';
      }
      default:
        return '';
    }
  });
}

function early(facts: StreamFacts): string {
  facts.fault = { kind: 'malformed', status: 200, detail: 'the stream does not begin with message_start' };
  return '';
}

function defined(source: Json | undefined): Json {
  return Object.fromEntries(Object.entries(source ?? {}).filter(([, value]) => value !== undefined && value !== null));
}
