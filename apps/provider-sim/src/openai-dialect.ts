import { SIM_MODELS } from '@sluice/contracts';
import type { Dialect } from './dialect.ts';
import { planOpenai } from './plan-call.ts';
import type { SimCall } from './sim-call.ts';

const CREATED = 1_700_000_000;
const REASON = { stop: 'stop', length: 'length', tool: 'tool_calls' } as const;
const ERROR_TYPE: Record<number, string> = {
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

function usageOf(call: SimCall): object {
  const { input, output } = call.saidUsage ?? {
    input: call.inputTokens,
    output: call.pieces.length * call.choices,
  };
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: call.cachedTokens },
  };
}

function frame(call: SimCall, choices: string, usage = ''): string {
  return `data: {"id":"chatcmpl-${call.hash}","object":"chat.completion.chunk","created":${CREATED},"model":"${call.model}","choices":[${choices}]${usage}}\n\n`;
}

function forEachChoice(call: SimCall, delta: string, reason: string | null): string {
  let out = '';
  for (let i = 0; i < call.choices; i++)
    out += frame(call, `{"index":${i},"delta":${delta},"logprobs":null,"finish_reason":${JSON.stringify(reason)}}`);
  return out;
}

function toolCall(call: SimCall, index: number, text: string): object {
  return {
    id: index === 0 ? `call_${call.hash}` : `call_${call.hash}_${index}`,
    type: 'function',
    function: { name: call.calls[index]?.name, arguments: text },
  };
}

function whole(call: SimCall): string {
  const message =
    call.calls.length === 0
      ? { role: 'assistant', content: call.pieces.join(''), refusal: null }
      : {
          role: 'assistant',
          content: null,
          refusal: null,
          tool_calls: call.calls.map(({ from }, i) =>
            toolCall(call, i, call.pieces.slice(from, call.calls[i + 1]?.from).join('')),
          ),
        };
  return JSON.stringify({
    id: `chatcmpl-${call.hash}`,
    object: 'chat.completion',
    created: CREATED,
    model: call.model,
    choices: Array.from({ length: call.choices }, (_, index) => ({
      index,
      message,
      logprobs: null,
      finish_reason: call.finishReason ?? REASON[call.end],
    })),
    ...(call.omitUsage ? {} : { usage: usageOf(call) }),
  });
}

export const openaiDialect: Dialect = {
  path: '/v1/chat/completions',
  overloadStatus: 429,
  plan: planOpenai,
  whole,
  opening(call) {
    if (call.calls.length === 0) return forEachChoice(call, '{"role":"assistant","content":"","refusal":null}', null);
    return forEachChoice(
      call,
      JSON.stringify({ role: 'assistant', content: null, tool_calls: [{ index: 0, ...toolCall(call, 0, '') }] }),
      null,
    );
  },
  chunk(call, index) {
    const text = JSON.stringify(call.pieces[index] ?? '');
    if (call.calls.length === 0) return forEachChoice(call, `{"content":${text}}`, null);
    const at = call.calls.findLastIndex(({ from }) => from <= index);
    const starts =
      at > 0 && call.calls[at]?.from === index
        ? forEachChoice(call, JSON.stringify({ tool_calls: [{ index: at, ...toolCall(call, at, '') }] }), null)
        : '';
    return starts + forEachChoice(call, `{"tool_calls":[{"index":${at},"function":{"arguments":${text}}}]}`, null);
  },
  closing(call) {
    const finish = forEachChoice(call, '{}', call.finishReason ?? REASON[call.end]);
    const usage =
      call.usageChunk && !call.omitUsage ? frame(call, '', `,"usage":${JSON.stringify(usageOf(call))}`) : '';
    return `${finish}${usage}data: [DONE]\n\n`;
  },
  error: (status, message) =>
    JSON.stringify({
      error: {
        message,
        type: ERROR_TYPE[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error'),
        param: null,
        code: status === 404 ? 'model_not_found' : null,
      },
    }),
  side(method, path) {
    if (method !== 'GET' || path !== '/v1/models') return undefined;
    return {
      object: 'list',
      data: Object.keys(SIM_MODELS).map((id) => ({ id, object: 'model', created: CREATED, owned_by: 'sluice-sim' })),
    };
  },
};
