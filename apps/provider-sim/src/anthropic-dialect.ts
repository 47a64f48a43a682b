import { SIM_MODELS } from '@sluice/contracts';
import type { Dialect } from './dialect.ts';
import { planAnthropic } from './plan-call.ts';
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

function usageOf(call: SimCall, output: number): { usage?: object } {
  if (call.omitUsage) return {};
  return {
    usage: {
      input_tokens: call.inputTokens - call.cachedTokens,
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
function toolInput(call: SimCall): unknown {
  return call.end === 'length' ? {} : JSON.parse(call.pieces.join(''));
}

function block(call: SimCall, full: boolean): object {
  if (call.tool === undefined) return { type: 'text', text: full ? call.pieces.join('') : '' };
  return { type: 'tool_use', id: `toolu_${call.hash}`, name: call.tool, input: full ? toolInput(call) : {} };
}

export const anthropicDialect: Dialect = {
  path: '/v1/messages',
  overloadStatus: 529,
  plan: (body) => planAnthropic(body),
  whole: (call) =>
    JSON.stringify({
      ...envelope(call),
      content: [block(call, true)],
      stop_reason: call.finishReason ?? REASON[call.end],
      stop_sequence: null,
      ...usageOf(call, call.pieces.length),
    }),
  opening(call) {
    const message = { ...envelope(call), content: [], stop_reason: null, stop_sequence: null, ...usageOf(call, 0) };
    return `${event('message_start', { message })}${event('ping', {})}${event('content_block_start', { index: 0, content_block: block(call, false) })}`;
  },
  chunk(call, index) {
    const text = JSON.stringify(call.pieces[index] ?? '');
    const delta = call.tool === undefined ? `{"type":"text_delta","text":${text}}` : `{"type":"input_json_delta","partial_json":${text}}`;
    return `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":${delta}}\n\n`;
  },
  closing(call) {
    const delta = { stop_reason: call.finishReason ?? REASON[call.end], stop_sequence: null };
    const usage = call.omitUsage ? {} : { usage: { output_tokens: call.pieces.length } };
    return `${event('content_block_stop', { index: 0 })}${event('message_delta', { delta, ...usage })}${event('message_stop', {})}`;
  },
  error: (status, message) => JSON.stringify({ type: 'error', error: { type: ERROR_TYPE[status] ?? 'api_error', message }, request_id: null }),
  side(method, path, body) {
    if (method === 'POST' && path === '/v1/messages/count_tokens') return { input_tokens: planAnthropic(body(), true).inputTokens };
    if (method !== 'GET' || path !== '/v1/models') return undefined;
    const data = Object.keys(SIM_MODELS).map((id) => ({ id, type: 'model', display_name: id, created_at: '2026-01-01T00:00:00Z' }));
    return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  },
};
