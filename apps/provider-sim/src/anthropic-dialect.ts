import { SIM_MODELS } from '@sluice/contracts';
import type { Dialect } from './dialect.ts';
import { planAnthropic } from './plan-call.ts';
import { signatureOf } from './history.ts';
import type { SimCall } from './sim-call.ts';

const REASON = { stop: 'end_turn', length: 'max_tokens', tool: 'tool_use' } as const;
const ERROR_TYPE: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

/** Output tokens as the answer's end tells them. */
const outputOf = (call: SimCall): number => call.saidUsage?.output ?? call.pieces.length;

function usageOf(call: SimCall, output: number): { usage?: object } {
  if (call.omitUsage) return {};
  return {
    usage: {
      input_tokens: call.saidUsage?.input ?? call.inputTokens - call.cachedTokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: call.cachedTokens,
      output_tokens: output,
    },
  };
}

const event = (type: string, rest: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;

function envelope(call: SimCall): object {
  return { id: `msg_${call.hash}`, type: 'message', role: 'assistant', model: call.model };
}

/** Arguments cut by the token limit are no JSON; a whole answer then holds an empty input, as the real API may. */
function toolInput(call: SimCall, index: number): unknown {
  const { from = 0 } = call.calls[index] ?? {};
  const next = call.calls[index + 1]?.from;
  return call.end === 'length' && next === undefined ? {} : JSON.parse(call.pieces.slice(from, next).join(''));
}

function toolUse(call: SimCall, index: number, input: unknown): object {
  return {
    type: 'tool_use',
    id: index === 0 ? `toolu_${call.hash}` : `toolu_${call.hash}_${index}`,
    name: call.calls[index]?.name,
    input,
  };
}

function content(call: SimCall): object[] {
  const thoughts =
    call.thinking === undefined
      ? []
      : [{ type: 'thinking', thinking: call.thinking, signature: signatureOf(call.thinking) }];
  return [
    ...thoughts,
    ...(call.calls.length === 0
      ? [{ type: 'text', text: call.pieces.join('') }]
      : call.calls.map((_, i) => toolUse(call, i, toolInput(call, i)))),
  ];
}

const startBlock = (index: number, block: object): string =>
  event('content_block_start', { index, content_block: block });
const stopBlock = (index: number): string => event('content_block_stop', { index });

function thoughts(call: SimCall): string {
  if (call.thinking === undefined) return '';
  const delta = (value: object): string => event('content_block_delta', { index: 0, delta: value });
  return `${startBlock(0, { type: 'thinking', thinking: '', signature: '' })}${delta({ type: 'thinking_delta', thinking: call.thinking })}${delta({ type: 'signature_delta', signature: signatureOf(call.thinking) })}${stopBlock(0)}`;
}

/** Index of the block that holds the first piece. */
function firstBlock(call: SimCall): number {
  return call.thinking === undefined ? 0 : 1;
}

export const anthropicDialect: Dialect = {
  path: '/v1/messages',
  overloadStatus: 529,
  plan: (body) => planAnthropic(body),
  whole: (call) =>
    JSON.stringify({
      ...envelope(call),
      content: content(call),
      stop_reason: call.finishReason ?? REASON[call.end],
      stop_sequence: null,
      ...usageOf(call, outputOf(call)),
    }),
  opening(call) {
    const message = { ...envelope(call), content: [], stop_reason: null, stop_sequence: null, ...usageOf(call, 0) };
    const first = call.calls.length === 0 ? { type: 'text', text: '' } : toolUse(call, 0, {});
    return `${event('message_start', { message })}${event('ping', {})}${thoughts(call)}${startBlock(firstBlock(call), first)}`;
  },
  chunk(call, index) {
    const text = JSON.stringify(call.pieces[index] ?? '');
    const at = Math.max(
      0,
      call.calls.findLastIndex(({ from }) => from <= index),
    );
    const block = firstBlock(call) + at;
    const starts =
      at > 0 && call.calls[at]?.from === index ? stopBlock(block - 1) + startBlock(block, toolUse(call, at, {})) : '';
    const delta =
      call.calls.length === 0
        ? `{"type":"text_delta","text":${text}}`
        : `{"type":"input_json_delta","partial_json":${text}}`;
    return `${starts}event: content_block_delta\ndata: {"type":"content_block_delta","index":${block},"delta":${delta}}\n\n`;
  },
  closing(call) {
    const delta = { stop_reason: call.finishReason ?? REASON[call.end], stop_sequence: null };
    const usage = call.omitUsage ? {} : { usage: { output_tokens: outputOf(call) } };
    return `${stopBlock(firstBlock(call) + Math.max(0, call.calls.length - 1))}${event('message_delta', { delta, ...usage })}${event('message_stop', {})}`;
  },
  error: (status, message) =>
    JSON.stringify({ type: 'error', error: { type: ERROR_TYPE[status] ?? 'api_error', message }, request_id: null }),
  side(method, path, body) {
    if (method === 'POST' && path === '/v1/messages/count_tokens')
      return { input_tokens: planAnthropic(body(), true).inputTokens };
    if (method !== 'GET' || path !== '/v1/models') return undefined;
    const data = Object.keys(SIM_MODELS).map((id) => ({
      id,
      type: 'model',
      display_name: id,
      created_at: '2026-01-01T00:00:00Z',
    }));
    return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  },
};
