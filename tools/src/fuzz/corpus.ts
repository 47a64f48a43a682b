/**
 * Shapes that vendors send, from their references and from public reports: what a fuzzer puts together, cuts and bends.
 */
const chunk = (delta: object, more: object = {}, finish: unknown = null): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'gpt-x',
  choices: [{ index: 0, delta, finish_reason: finish, ...more }],
});

/** Data of events of the OpenAI dialect: OpenAI, Azure, Groq, Mistral, DeepSeek, OpenRouter, vLLM, Gemini, Ollama. */
export const OPENAI_EVENTS: readonly unknown[] = [
  chunk({ role: 'assistant', content: '', refusal: null }),
  {
    id: '',
    object: '',
    created: 0,
    model: '',
    choices: [],
    prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }],
  },
  chunk({ content: 'Hello' }),
  chunk({ content: ' wörld "\\ 👋\u2028' }),
  chunk({
    content: [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'parts' },
    ],
  }),
  chunk({ content: '', reasoning: 'hm', reasoning_details: [{ type: 'reasoning.text', text: 'hm' }] }),
  chunk({ reasoning_content: 'hm', content: null }),
  chunk({ refusal: 'I cannot.' }),
  chunk({ tool_calls: [{ index: 0, id: 'call_a', type: 'function', function: { name: 'f', arguments: '' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '{"n":1234567890123456789' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '}' } }] }),
  chunk({ tool_calls: [{ index: 1, id: 'call_b', type: 'function', function: { name: 'g', arguments: '{}' } }] }),
  chunk({ tool_calls: [{ index: 0, id: 'functions.Bash:0', function: { name: 'f', arguments: '{"a":1}' } }] }),
  chunk({ tool_calls: [{ id: '', function: { name: 'h', arguments: { b: 2 } } }] }),
  chunk({ function_call: { name: 'old', arguments: '{}' } }),
  chunk({ audio: { id: 'a', transcript: 'hi', data: 'AAAA' } }),
  chunk({}, {}, 'stop'),
  chunk({}, {}, 'tool_calls'),
  chunk({}, {}, 'length'),
  chunk({}, {}, ''),
  chunk({}, { error: { code: 502, message: 'Upstream died' } }, 'error'),
  {
    id: 'c',
    choices: [],
    usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12, prompt_tokens_details: { cached_tokens: 2 } },
  },
  { id: 'c', choices: [], usage: null },
  { error: { message: 'no', type: 'server_error', code: null } },
  { error: { message: 'no credit', code: 402 } },
  { error: 'boom' },
  { object: 'error', message: 'x', code: 500 },
  [{ error: { code: 503, message: 'x', status: 'UNAVAILABLE' } }],
  { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } },
  { detail: 'Not Found' },
];

/** Events of Anthropic's, with their names, and what imitators make of them. */
export const ANTHROPIC_EVENTS: readonly Readonly<Record<string, unknown>>[] = [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-x',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 5, cache_read_input_tokens: 3, output_tokens: 1 },
    },
  },
  { type: 'ping' },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ' wörld 👋"\\' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} } },
  {
    type: 'content_block_start',
    index: 1,
    content_block: { type: 'tool_use', id: 'toolu_2', name: 'g', input: { a: 1 } },
  },
  {
    type: 'content_block_delta',
    index: 1,
    delta: { type: 'input_json_delta', partial_json: '{"n":12345678901234567' },
  },
  { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '89}' } },
  { type: 'content_block_stop', index: 1 },
  { type: 'content_block_start', index: 2, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'thinking_delta', thinking: 'hm' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'signature_delta', signature: 's' } },
  {
    type: 'content_block_start',
    index: 3,
    content_block: { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
  },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 7 } },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { input_tokens: 0, output_tokens: 7 } },
  { type: 'message_delta', delta: { stop_reason: null } },
  { type: 'message_stop' },
  { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
];

/** Lines that stand between events, and marks. */
export const ODD_EVENTS: readonly string[] = [
  'data: [DONE]',
  'data: [DONE] ',
  ': keep-alive',
  'event: error\ndata: died',
  'data: {"half',
  'data: 7',
  'retry: 10',
  'data:',
];

const user = { role: 'user', content: 'hi' };

/** Chat completion requests, by member. */
export const CHAT_FIELDS: readonly object[] = [
  { max_completion_tokens: 50, temperature: 0.5, top_p: 0.9, stop: ['a', ' '] },
  { tools: [{ type: 'function', function: { name: 'f', parameters: {} } }], tool_choice: 'required' },
  { tools: [{ type: 'custom', custom: { name: 'x' } }], reasoning_effort: 'high' },
  { response_format: { type: 'json_object' } },
  {
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
    user: 'u'.repeat(300),
  },
  { n: 2, seed: 1, logprobs: true, stream: true, stream_options: { include_usage: true } },
];
export const CHAT_MESSAGES: readonly object[] = [
  user,
  { role: 'system', content: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }] },
  {
    role: 'user',
    name: 'Ann',
    content: [
      { type: 'text', text: '' },
      { type: 'image_url', image_url: { url: 'data:image/jpg;base64,AA==' } },
    ],
  },
  {
    role: 'user',
    content: [{ type: 'file', file: { file_data: 'data:application/pdf;base64,AA==' } }, { type: 'input_audio' }],
  },
  {
    role: 'assistant',
    content: null,
    reasoning_content: 'hm',
    annotations: [],
    tool_calls: [
      { id: 'functions.f:0', type: 'function', function: { name: 'f', arguments: '{"n":1234567890123456789}' } },
    ],
  },
  { role: 'assistant', content: 'x', function_call: { name: 'f', arguments: '[' } },
  { role: 'tool', tool_call_id: 'functions.f:0', content: '' },
  { role: 'tool', tool_call_id: '', content: [{ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }] },
  { role: 'nobody' },
];

/** Message requests, by member. */
export const MESSAGE_FIELDS: readonly object[] = [
  { system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }], temperature: 1 },
  { tools: [{ name: 'f', input_schema: { type: 'object' } }], tool_choice: { type: 'any' } },
  { tools: [{ type: 'web_search_20250305', name: 'web_search' }], tool_choice: { type: 'any' } },
  { metadata: { user_id: 'u'.repeat(159) }, thinking: { type: 'enabled', budget_tokens: 5_000 } },
  { output_config: { effort: 'high', format: { type: 'json_schema', schema: {} } }, top_k: 4 },
  { stop_sequences: ['a', 'b', 'c', 'd', 'e'], context_management: { edits: [] }, stream: true },
];
export const MESSAGE_MESSAGES: readonly object[] = [
  user,
  {
    role: 'user',
    content: [{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AA==' } }],
  },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'tool_use', id: 'toolu_1', name: 'f', input: { n: 1.5, s: '"' } },
    ],
  },
  {
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: 'toolu_1',
        is_error: true,
        content: [{ type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } }],
      },
    ],
  },
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'x', citations: [] },
      { type: 'server_tool_use', id: 's', name: 'w', input: {} },
    ],
  },
  { role: 'user', content: [] },
  { role: 'system', content: 'Now.' },
  {
    role: 'user',
    content: [
      { type: 'container_upload', file_id: 'f' },
      { type: 'search_result', title: 't', source: 's', content: [{ type: 'text', text: 'x' }] },
    ],
  },
];

/** Whole bodies: answers and errors. */
export const BODIES: readonly unknown[] = [
  ...OPENAI_EVENTS,
  ...ANTHROPIC_EVENTS,
  {
    id: 'c',
    model: 'm',
    choices: [
      {
        message: {
          role: 'assistant',
          content: 'x',
          tool_calls: [{ id: 't', function: { name: 'f', arguments: '{' } }],
        },
        finish_reason: 'length',
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 4 },
  },
  {
    id: 'msg',
    type: 'message',
    model: 'm',
    content: [
      { type: 'text', text: 'x' },
      { type: 'tool_use', id: 't', name: 'f', input: { a: [1] } },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 3, output_tokens: 4 },
  },
  { code: 'Arrearage', message: 'Access denied' },
  { error: { type: 'not_found_error', message: 'model: claude-x' }, type: 'error' },
  { error: { code: 'model_not_found', message: 'x', param: null } },
];
