/**
 * Answers in the shapes that the providers' API references document, with figures that tell the token classes
 * apart.
 */
export const ANTHROPIC_WHOLE = {
  id: 'msg_01',
  type: 'message',
  role: 'assistant',
  model: 'claude-x',
  content: [
    { type: 'thinking', thinking: 'They want the weather.', signature: 'sig' },
    { type: 'text', text: 'Let me look.' },
    { type: 'tool_use', id: 'toolu_01', name: 'get_weather', input: { city: 'Paris' } },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 50, cache_creation_input_tokens: 20, cache_read_input_tokens: 100, output_tokens: 60 },
};

export const OPENAI_WHOLE = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'gpt-x',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'Let me look.',
        refusal: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
        ],
      },
      logprobs: null,
      finish_reason: 'tool_calls',
    },
  ],
  usage: {
    prompt_tokens: 100,
    completion_tokens: 40,
    total_tokens: 140,
    prompt_tokens_details: { cached_tokens: 30 },
    completion_tokens_details: { reasoning_tokens: 15 },
  },
};

const event = (type: string, rest: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
const delta = (index: number, value: object): string => event('content_block_delta', { index, delta: value });

/** Thinking, text, and two tools, with pings between. */
export const ANTHROPIC_TOOL_STREAM = [
  event('message_start', {
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-x',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 472, cache_read_input_tokens: 10, output_tokens: 2 },
    },
  }),
  event('content_block_start', { index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } }),
  delta(0, { type: 'thinking_delta', thinking: 'a secret thought' }),
  delta(0, { type: 'signature_delta', signature: 'c2ln' }),
  event('content_block_stop', { index: 0 }),
  event('content_block_start', { index: 1, content_block: { type: 'text', text: '' } }),
  event('ping', {}),
  delta(1, { type: 'text_delta', text: 'Okay, "let' }),
  delta(1, { type: 'text_delta', text: '\'s" look 🌧' }),
  event('content_block_stop', { index: 1 }),
  event('content_block_start', {
    index: 2,
    content_block: { type: 'tool_use', id: 'toolu_a', name: 'get_weather', input: {} },
  }),
  delta(2, { type: 'input_json_delta', partial_json: '' }),
  delta(2, { type: 'input_json_delta', partial_json: '{"city":' }),
  delta(2, { type: 'input_json_delta', partial_json: ' "San Francisco"}' }),
  event('content_block_stop', { index: 2 }),
  event('content_block_start', {
    index: 3,
    content_block: { type: 'tool_use', id: 'toolu_b', name: 'get_time', input: {} },
  }),
  delta(3, { type: 'input_json_delta', partial_json: '{}' }),
  event('content_block_stop', { index: 3 }),
  event('message_delta', { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 89 } }),
  event('message_stop', {}),
].join('');

const chunk = (value: object): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-2', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'gpt-x', ...value })}\n\n`;
const choice = (value: object, finish: string | null = null): string =>
  chunk({ choices: [{ index: 0, delta: value, logprobs: null, finish_reason: finish }] });

/** Text and two tools, then the usage chunk. */
export const OPENAI_TOOL_STREAM = [
  choice({ role: 'assistant', content: '' }),
  choice({ content: 'Let me ' }),
  choice({ content: 'look 🌧 "now"' }),
  choice({
    tool_calls: [{ index: 0, id: 'call_a', type: 'function', function: { name: 'get_weather', arguments: '' } }],
  }),
  choice({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
  choice({ tool_calls: [{ index: 0, function: { arguments: '"Paris"}' } }] }),
  choice({
    tool_calls: [{ index: 1, id: 'call_b', type: 'function', function: { name: 'get_time', arguments: '{}' } }],
  }),
  choice({}, 'tool_calls'),
  chunk({
    choices: [],
    usage: { prompt_tokens: 82, completion_tokens: 17, total_tokens: 99, prompt_tokens_details: { cached_tokens: 22 } },
  }),
  'data: [DONE]\n\n',
].join('');
