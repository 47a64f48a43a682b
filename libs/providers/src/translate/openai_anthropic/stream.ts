import type { ExpectedInput, InboundCall, StreamReader } from '@sluice/contracts';
import { isDone, noteCut, noteMark, type StreamFacts } from '../../event-reader.ts';
import { asObject, textLength, tokenCount } from '../../token-count.ts';
import { blockChars } from '../../anthropic/read-whole.ts';
import { eventOf, noteReport } from '../../anthropic/stream-reader.ts';
import { mergeUsage } from '../../anthropic/usage.ts';
import { asText, type Json } from '../carrier.ts';
import { rawTexts } from '../raw-json.ts';
import { ToolIds } from '../tool-ids.ts';
import { createTranslatingReader } from '../translating-reader.ts';
import { openaiFaultOf } from './error.ts';
import { finishReasonOf } from './finish-reason.ts';
import { JSON_TOOL } from './tools.ts';
import { guessedUsage, openaiUsageOf } from './usage.ts';

/** What a block gives, and of a tool what it has said so far. */
interface Block {
  readonly kind: 'text' | 'call' | 'json' | 'nothing';
  readonly call: number;
  /** Arguments that came with the block's beginning, for a tool to which nothing is added. */
  initial: string;
  hasArguments: boolean;
}

/** A stream of Anthropic's message events as chat completion chunks, each built in one piece. */
export function createChatChunkReader(
  { wantsUsage }: InboundCall,
  nowMs: () => number,
  expectedInput: ExpectedInput,
): StreamReader {
  /** What every chunk begins with, up to its delta. */
  let head = '';
  let id = '';
  /** What the message has reported so far, as it was written. */
  let said: Json = {};
  let counted = false;
  let stopReason: unknown;
  const ids = new ToolIds();
  /** Tool calls so far; each block of a tool is one call in order. */
  let calls = 0;
  const blocks = new Map<unknown, Block>();
  let last: Block | undefined;

  const chunk = (delta: string, finish = 'null'): string =>
    `${head}${delta},"logprobs":null,"finish_reason":${finish}}]}\n\n`;

  function start(message: Json | undefined, facts: StreamFacts): string {
    const model = asText(message?.model);
    facts.model = model;
    said = asObject(message?.usage) ?? {};
    noteReport(facts, said);
    id = asText(message?.id) ?? '';
    const frame = { id, object: 'chat.completion.chunk', created: Math.floor(nowMs() / 1000), model: model ?? '' };
    head = `data: ${JSON.stringify(frame).slice(0, -1)},"choices":[{"index":0,"delta":`;
    return chunk('{"role":"assistant","content":"","refusal":null}');
  }

  function startBlock(data: Json, text: string, facts: StreamFacts): string {
    const block = asObject(data.content_block);
    facts.outputChars += blockChars(block);
    if (block?.type === 'text') {
      open(data, { kind: 'text', call: -1, initial: '', hasArguments: false });
      const said = asText(block.text) ?? '';
      return said === '' ? '' : content(said, facts);
    }
    if (block?.type !== 'tool_use') {
      open(data, { kind: 'nothing', call: -1, initial: '', hasArguments: false });
      if (blockChars(block) > 0) facts.contentSeen = true;
      return '';
    }
    facts.contentSeen = true;
    const initial = rawTexts(text, ['content_block', 'input']).get('') ?? '{}';
    if (block.name === JSON_TOOL) {
      open(data, { kind: 'json', call: -1, initial, hasArguments: false });
      return '';
    }
    open(data, { kind: 'call', call: calls, initial, hasArguments: false });
    calls += 1;
    return chunk(
      `{"tool_calls":[{"index":${calls - 1},"id":${JSON.stringify(ids.next(block.id, id))},"type":"function","function":{"name":${JSON.stringify(block.name ?? '')},"arguments":""}}]}`,
    );
  }

  function open({ index }: Json, block: Block): void {
    last = block;
    blocks.set(index, block);
  }

  function content(text: string, facts: StreamFacts): string {
    facts.contentSeen = true;
    return chunk(`{"content":${JSON.stringify(text)}}`);
  }

  function delta(data: Json, facts: StreamFacts): string {
    const value = asObject(data.delta);
    const block = blocks.get(data.index) ?? last;
    facts.outputChars += textLength(value?.text) + textLength(value?.partial_json) + textLength(value?.thinking);
    if (typeof value?.text === 'string') return content(value.text, facts);
    if (typeof value?.partial_json === 'string')
      return block === undefined || value.partial_json === '' ? '' : args(block, value.partial_json, facts);
    // Thoughts are not shown, but they are output: the answer has begun.
    if (typeof value?.thinking === 'string') facts.contentSeen = true;
    return '';
  }

  function args(block: Block, text: string, facts: StreamFacts): string {
    block.hasArguments = true;
    if (block.kind === 'json') return content(text, facts);
    if (block.kind !== 'call') return '';
    return chunk(`{"tool_calls":[{"index":${block.call},"function":{"arguments":${JSON.stringify(text)}}}]}`);
  }

  /** A tool to which nothing was added has the arguments of its beginning: none are `{}`. */
  function stopBlock(index: unknown, facts: StreamFacts): string {
    const block = blocks.get(index);
    blocks.delete(index);
    if (block === undefined || block.hasArguments || (block.kind !== 'call' && block.kind !== 'json')) return '';
    return args(block, block.initial, facts);
  }

  function end(data: Json, facts: StreamFacts): string {
    const usage = asObject(data.usage);
    if (tokenCount(usage?.output_tokens) !== undefined) {
      counted = true;
      noteReport(facts, (said = mergeUsage(said, usage)));
    } else if (!counted) {
      // A count from the stream's start says nothing of what was generated.
      facts.usage = undefined;
    }
    const reason = asObject(data.delta)?.stop_reason;
    if (typeof reason === 'string') facts.finishReason = stopReason = reason;
    facts.contentSeen = true;
    return '';
  }

  function finish(facts: StreamFacts): string {
    const rest = [...blocks.keys()].map((index) => stopBlock(index, facts)).join('');
    const usage = wantsUsage
      ? `${head.slice(0, head.indexOf('{"index":0'))}],"usage":${JSON.stringify(openaiUsageOf(facts.usage ?? guessedUsage(expectedInput(), facts.outputChars)))}}\n\n`
      : '';
    return `${rest}${chunk('{}', JSON.stringify(finishReasonOf(stopReason, calls > 0)))}${usage}data: [DONE]\n\n`;
  }

  return createTranslatingReader((event, facts) => {
    if (event.data === undefined) return '';
    if (isDone(event)) {
      // A mark of the other dialect, which some send beside their own.
      if (facts.finishReason === undefined) noteCut(facts);
      return '';
    }
    const data = eventOf(event, facts);
    if (data === undefined) {
      if (facts.fault !== undefined) facts.fault = openaiFaultOf(facts.fault);
      return '';
    }
    switch (data.type) {
      case 'content_block_delta':
        return head === '' ? early(facts) : delta(data, facts);
      case 'content_block_start':
        return head === '' ? early(facts) : startBlock(data, event.data, facts);
      case 'content_block_stop':
        return stopBlock(data.index, facts);
      case 'message_start':
        return head === '' ? start(asObject(data.message), facts) : '';
      case 'message_delta':
        return head === '' ? early(facts) : end(data, facts);
      case 'message_stop':
        if (head === '') return early(facts);
        if (!counted) facts.usage = undefined;
        return noteMark(facts) === 'hide' ? '' : finish(facts);
      default:
        return '';
    }
  }, finish);
}

function early(facts: StreamFacts): string {
  facts.fault = { kind: 'malformed', status: 200, detail: 'the stream does not begin with message_start' };
  return '';
}
