import { SIM_MODELS } from '@sluice/contracts';
import type { Dialect } from './dialect.ts';
import { planOpenai } from './plan-call.ts';
import type { SimCall } from './sim-call.ts';

const CREATED = 1_700_000_000;
const REASON = { stop: 'stop', length: 'length', tool: 'tool_calls' } as const;
const ERROR_TYPE: Record<number, string> = { 401: 'authentication_error', 404: 'not_found_error', 429: 'rate_limit_error' };

function usageOf(call: SimCall): object {
  const output = call.pieces.length * call.choices;
  return {
    prompt_tokens: call.inputTokens,
    completion_tokens: output,
    total_tokens: call.inputTokens + output,
    prompt_tokens_details: { cached_tokens: call.cachedTokens },
  };
}

function frame(call: SimCall, choices: string, usage = ''): string {
  return `data: {"id":"chatcmpl-${call.hash}","object":"chat.completion.chunk","created":${CREATED},"model":"${call.model}","choices":[${choices}]${usage}}\n\n`;
}

function forEachChoice(call: SimCall, delta: string, reason: string | null): string {
  let out = '';
  for (let i = 0; i < call.choices; i++) out += frame(call, `{"index":${i},"delta":${delta},"logprobs":null,"finish_reason":${JSON.stringify(reason)}}`);
  return out;
}

function whole(call: SimCall): string {
  const text = call.pieces.join('');
  const message =
    call.tool === undefined
      ? { role: 'assistant', content: text, refusal: null }
      : { role: 'assistant', content: null, refusal: null, tool_calls: [{ id: `call_${call.hash}`, type: 'function', function: { name: call.tool, arguments: text } }] };
  return JSON.stringify({
    id: `chatcmpl-${call.hash}`,
    object: 'chat.completion',
    created: CREATED,
    model: call.model,
    choices: Array.from({ length: call.choices }, (_, index) => ({ index, message, logprobs: null, finish_reason: call.finishReason ?? REASON[call.end] })),
    ...(call.omitUsage ? {} : { usage: usageOf(call) }),
  });
}

export const openaiDialect: Dialect = {
  path: '/v1/chat/completions',
  overloadStatus: 429,
  plan: planOpenai,
  whole,
  opening(call) {
    if (call.tool === undefined) return forEachChoice(call, '{"role":"assistant","content":"","refusal":null}', null);
    const tool = { index: 0, id: `call_${call.hash}`, type: 'function', function: { name: call.tool, arguments: '' } };
    return forEachChoice(call, JSON.stringify({ role: 'assistant', content: null, tool_calls: [tool] }), null);
  },
  chunk(call, index) {
    const text = JSON.stringify(call.pieces[index] ?? '');
    return forEachChoice(call, call.tool === undefined ? `{"content":${text}}` : `{"tool_calls":[{"index":0,"function":{"arguments":${text}}}]}`, null);
  },
  closing(call) {
    const finish = forEachChoice(call, '{}', call.finishReason ?? REASON[call.end]);
    const usage = call.usageChunk && !call.omitUsage ? frame(call, '', `,"usage":${JSON.stringify(usageOf(call))}`) : '';
    return `${finish}${usage}data: [DONE]\n\n`;
  },
  error: (status, message) => JSON.stringify({ error: { message, type: ERROR_TYPE[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error'), param: null, code: status === 404 ? 'model_not_found' : null } }),
  side(method, path) {
    if (method !== 'GET' || path !== '/v1/models') return undefined;
    return { object: 'list', data: Object.keys(SIM_MODELS).map((id) => ({ id, object: 'model', created: CREATED, owned_by: 'sluice-sim' })) };
  },
};
