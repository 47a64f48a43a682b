import { readFileSync } from 'node:fs';
import type { MessageCreateParamsNonStreaming } from '@anthropic-ai/sdk/resources/messages';
import { type InboundCall, isFault, isRefusal, type ProviderAdapter } from '@sluice/contracts';
import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions';
import { anthropicAdapter, callOf, openaiAdapter } from '../wire.fixture.ts';

const DOC = readFileSync(new URL('../../../../docs/translation.md', import.meta.url), 'utf8');

type Fate = 'carried' | 'mapped' | 'dropped' | 'refused';

/** The rows of a table of the page, by field. */
function rowsOf(title: string): Map<string, Fate> {
  const section = DOC.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
  const rows = [...section.matchAll(/^\| `([^`]+)` \| (\w+) \|/gm)];
  return new Map(rows.map(([, field, fate]) => [field as string, fate as Fate]));
}

type Sample = object | undefined;
const user = { role: 'user', content: 'hi' };
const tool = { type: 'function', function: { name: 'f' } };
const part = (value: object): object => ({
  messages: [user, { role: 'user', content: [{ type: 'text', text: 'x', ...value }] }],
});
const said = (value: object): object => ({ messages: [user, { role: 'assistant', content: 'x', ...value }, user] });
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };

/** One value for each field of the SDK; what every request has is not asked for. */
const CHAT: Record<keyof ChatCompletionCreateParamsNonStreaming, Sample> & Record<string, Sample> = {
  model: {},
  messages: {},
  audio: { audio: { voice: 'x', format: 'wav' } },
  frequency_penalty: { frequency_penalty: 0.5 },
  function_call: { function_call: 'auto' },
  functions: { functions: [{ name: 'f' }] },
  logit_bias: { logit_bias: { 5: 1 } },
  logprobs: { logprobs: true },
  max_completion_tokens: { max_completion_tokens: 77 },
  max_tokens: { max_tokens: 77 },
  metadata: { metadata: { a: 'b' } },
  modalities: { modalities: ['text', 'audio'] },
  moderation: { moderation: { model: 'm' } },
  n: { n: 2 },
  parallel_tool_calls: { tools: [tool], parallel_tool_calls: false },
  prediction: { prediction: { type: 'content', content: 'x' } },
  presence_penalty: { presence_penalty: 0.5 },
  prompt_cache_key: { prompt_cache_key: 'k' },
  prompt_cache_options: { prompt_cache_options: { mode: 'explicit' } },
  prompt_cache_retention: { prompt_cache_retention: '24h' },
  reasoning_effort: { reasoning_effort: 'low' },
  response_format: { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } } },
  safety_identifier: { safety_identifier: 's' },
  seed: { seed: 1 },
  service_tier: { service_tier: 'priority' },
  stop: { stop: 'END' },
  store: { store: true },
  stream: { stream: true },
  stream_options: { stream_options: { include_usage: true } },
  temperature: { temperature: 0.3 },
  tool_choice: { tools: [tool], tool_choice: 'required' },
  tools: { tools: [tool] },
  top_logprobs: { top_logprobs: 2 },
  top_p: { top_p: 0.4 },
  user: { user: 'u' },
  verbosity: { verbosity: 'low' },
  web_search_options: { web_search_options: {} },
};
const CHAT_INNER: Record<string, object> = {
  'messages[].name': { messages: [{ ...user, name: 'Ann' }] },
  'messages[].cache_control': { messages: [{ ...user, cache_control: { type: 'ephemeral' } }] },
  'messages[].content[].cache_control': part({ cache_control: { type: 'ephemeral' } }),
  'messages[].content[].prompt_cache_breakpoint': part({ prompt_cache_breakpoint: { mode: 'explicit' } }),
  'messages[].content[].text': part({ text: 'spoken' }),
  'messages[].content[].image_url': part({
    type: 'image_url',
    text: undefined,
    image_url: { url: 'data:image/png;base64,AA==' },
  }),
  'messages[].content[].image_url.detail': part({
    type: 'image_url',
    text: undefined,
    image_url: { url: 'https://x.test/a.png', detail: 'high' },
  }),
  'messages[].content[].file': part({
    type: 'file',
    text: undefined,
    file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' },
  }),
  'messages[].content[].input_audio': part({
    type: 'input_audio',
    text: undefined,
    input_audio: { data: 'AA==', format: 'wav' },
  }),
  'messages[].tool_calls': said({ tool_calls: [call] }),
  'messages[].function_call': said({ function_call: { name: 'f', arguments: '{}' } }),
  'messages[].refusal': said({ refusal: 'No.' }),
  'messages[].audio': said({ content: null, audio: { id: 'a', transcript: 'spoken' } }),
  'messages[].annotations': said({ annotations: [{ type: 'url_citation' }] }),
  'messages[].reasoning_content': said({ reasoning_content: 'hm' }),
  'messages[].reasoning': said({ reasoning: 'hm' }),
  'messages[].reasoning_details': said({ reasoning_details: [{ type: 'reasoning.text', text: 'hm' }] }),
  'messages[].tool_call_id': {
    messages: [user, { role: 'assistant', tool_calls: [call] }, { role: 'tool', tool_call_id: 'c', content: 'y' }],
  },
  'tools[].cache_control': { tools: [{ ...tool, cache_control: { type: 'ephemeral' } }] },
};

const block = (value: object): object => ({
  messages: [user, { role: 'user', content: [{ type: 'text', text: 'x' }, value] }],
});
const answered = (value: object): object => ({
  messages: [user, { role: 'assistant', content: [{ type: 'text', text: 'x' }, value] }, user],
});
const custom = { name: 'f', input_schema: { type: 'object', properties: {} } };
const MESSAGES: Record<keyof MessageCreateParamsNonStreaming, Sample> & Record<string, Sample> = {
  model: {},
  messages: {},
  max_tokens: { max_tokens: 77 },
  cache_control: { cache_control: { type: 'ephemeral' } },
  container: { container: 'c' },
  context_management: { context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } },
  diagnostics: { diagnostics: { previous_message_id: 'm' } },
  inference_geo: { inference_geo: 'us' },
  mcp_servers: { mcp_servers: [{ type: 'url', url: 'https://x.test', name: 'x' }] },
  metadata: { metadata: { user_id: 'u' } },
  output_config: { output_config: { effort: 'low' } },
  service_tier: { service_tier: 'standard_only' },
  speed: { speed: 'fast' },
  stop_sequences: { stop_sequences: ['END'] },
  stream: { stream: true },
  system: { system: 'Be brief.' },
  temperature: { temperature: 0.3 },
  thinking: { thinking: { type: 'enabled', budget_tokens: 2_000 } },
  tool_choice: { tools: [custom], tool_choice: { type: 'any' } },
  tools: { tools: [custom] },
  top_k: { top_k: 5 },
  top_p: { top_p: 0.4 },
  user_profile_id: { user_profile_id: 'p' },
  workspace_id: { workspace_id: 'w' },
};
const MESSAGES_INNER: Record<string, object> = {
  'messages[].content[].text': block({ type: 'text', text: 'spoken' }),
  'messages[].content[].cache_control': part({ cache_control: { type: 'ephemeral' } }),
  'messages[].content[].citations': said({ content: [{ type: 'text', text: 'x', citations: [{}] }] }),
  'messages[].content[].image': block({
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: 'AA==' },
  }),
  'messages[].content[].document': block({
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: 'AA==' },
  }),
  'messages[].content[].search_result': block({
    type: 'search_result',
    title: 't',
    source: 's',
    content: [{ type: 'text', text: 'found' }],
  }),
  'messages[].content[].container_upload': block({ type: 'container_upload', file_id: 'f' }),
  'messages[].content[].tool_use': answered({ type: 'tool_use', id: 'c', name: 'f', input: {} }),
  'messages[].content[].tool_result': block({ type: 'tool_result', tool_use_id: 'c', content: 'y' }),
  'messages[].content[].thinking': answered({ type: 'thinking', thinking: 'hm', signature: 's' }),
  'messages[].content[].redacted_thinking': answered({ type: 'redacted_thinking', data: 's' }),
  'messages[].content[].server_tool_use': answered({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
  'messages[].content[].web_search_tool_result': answered({
    type: 'web_search_tool_result',
    tool_use_id: 's',
    content: [],
  }),
  'tools[].cache_control': { tools: [{ ...custom, cache_control: { type: 'ephemeral' } }] },
  'tools[].eager_input_streaming': { tools: [{ ...custom, eager_input_streaming: true }] },
  'tools[].defer_loading': { tools: [{ ...custom, defer_loading: true }] },
  'tools[].input_examples': { tools: [{ ...custom, input_examples: [{}] }] },
};
/** What a request holds beside the field of that name, so that the field alone makes the difference. */
const WITHOUT: Record<string, object> = {
  parallel_tool_calls: { tools: [tool] },
  tool_choice: {},
  'messages[].audio': said({ content: null }),
  'messages[].tool_call_id': said({ content: null, tool_calls: [call] }),
};
const TARGET = {
  baseUrl: 'https://x.test',
  dialect: 'openai' as const,
  providerModel: 'theirs',
  secret: 's',
  extraHeaders: {},
  tenantMarker: 't',
  carryFields: [],
  maxOutputTokens: 8_000,
};

interface Sent {
  readonly body: string;
  readonly dropped: readonly string[];
}

function send(adapter: ProviderAdapter, inbound: InboundCall): Sent {
  const request = adapter.buildRequest(inbound, TARGET);
  if (isRefusal(request)) throw new Error(`${request.param}: ${request.message}`);
  return { body: request.body.toString(), dropped: request.dropped ?? [] };
}

/** The request without the field: what remains of its sample, or nothing of it. */
function without(field: string, sample: object): object {
  const known = WITHOUT[field];
  if (known !== undefined) return known;
  const key = field.split('.').at(-1)?.replace(/\[\]$/, '') as string;
  const rest = (name: string, value: unknown): unknown => {
    if (name === key) return undefined;
    if (!Array.isArray(value)) return value;
    return value.filter((item: { type?: unknown }) => item.type !== key);
  };
  return JSON.parse(JSON.stringify(sample, rest)) as object;
}

describe.each([
  ['Requests: OpenAI to Anthropic', anthropicAdapter, 'chat', { ...CHAT, ...CHAT_INNER }, { max_tokens: undefined }],
  ['Requests: Anthropic to OpenAI', openaiAdapter, 'messages', { ...MESSAGES, ...MESSAGES_INNER }, { max_tokens: 100 }],
] as const)('%s', (title, adapter, operation, samples: Record<string, Sample>, base) => {
  const rows = rowsOf(title);
  const request = (over: object) => ({ model: 'ours', messages: [user], ...base, ...over });

  it('names every field of the SDK, and none that is not tried here', () => {
    expect([...rows.keys()].sort()).toEqual(Object.keys(samples).sort());
  });

  it.each([...rows])('%s is %s', (field, fate) => {
    const sample = samples[field] as object;
    const inbound = callOf(operation, request(sample), { stream: false });
    if (fate === 'refused') {
      const refusal = adapter.judge(inbound, []);
      expect(refusal?.code).toBe('unsupported_field');
      const { body, dropped } = send(adapter, { ...inbound, acrossDialects: 'drop' });
      expect(dropped).toEqual([refusal?.param]);
      expect(body).toContain('"messages"');
      return;
    }
    const { body, dropped } = send(adapter, inbound);
    expect(dropped).toEqual([]);
    if (field === 'model') return expect(body).toContain('"model":"theirs"');
    if (field === 'messages') return expect(body).toContain('"content":"hi"');
    const key = field.split(/[.[\]]+/).at(-1) as string;
    const bare = send(adapter, callOf(operation, request(without(field, sample)), { stream: false }));
    if (fate === 'dropped') expect(body).toBe(bare.body);
    else expect(body).not.toBe(bare.body);
    if (fate === 'carried' && key !== 'text') expect(body).toContain(`"${key}":`);
  });
});

const DROPPED_WORD = 'unseen';
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-x',
  content: [] as object[],
  stop_reason: 'max_tokens',
  usage: { input_tokens: 3, output_tokens: 4 },
};
const ANTHROPIC_ANSWERS: Record<string, [sample: object, seen: string]> = {
  id: [{}, '"id":"msg_1"'],
  model: [{}, '"model":"claude-x"'],
  'content[].text': [{ content: [{ type: 'text', text: 'spoken' }] }, '"content":"spoken"'],
  'content[].tool_use': [
    { content: [{ type: 'tool_use', id: 'c', name: 'f', input: { a: 1 } }] },
    '"arguments":"{\\"a\\":1}"',
  ],
  'content[].thinking': [{ content: [{ type: 'thinking', thinking: DROPPED_WORD }] }, ''],
  'content[].redacted_thinking': [{ content: [{ type: 'redacted_thinking', data: DROPPED_WORD }] }, ''],
  'content[].server_tool_use': [{ content: [{ type: 'server_tool_use', id: 's', name: DROPPED_WORD, input: {} }] }, ''],
  'content[].citations': [{ content: [{ type: 'text', text: 'x', citations: [{ cited_text: DROPPED_WORD }] }] }, ''],
  stop_reason: [{}, '"finish_reason":"length"'],
  stop_sequence: [{ stop_sequence: DROPPED_WORD }, ''],
  usage: [{}, '"prompt_tokens":3,"completion_tokens":4'],
};
const spoke = (message: object) => ({
  choices: [{ index: 0, message: { role: 'assistant', content: '', ...message }, finish_reason: 'length' }],
});
const OPENAI_ANSWERS: Record<string, [sample: object, seen: string]> = {
  id: [{}, '"id":"chatcmpl-1"'],
  model: [{}, '"model":"gpt-x"'],
  'choices[].message.content': [spoke({ content: 'spoken' }), '{"type":"text","text":"spoken"}'],
  'choices[].message.refusal': [spoke({ refusal: 'No.' }), '{"type":"text","text":"No."}'],
  'choices[].message.tool_calls': [spoke({ tool_calls: [call] }), '{"type":"tool_use","id":"c","name":"f","input":{}}'],
  'choices[].message.function_call': [
    spoke({ function_call: { name: 'f', arguments: '{"a":1}' } }),
    '"name":"f","input":{"a":1}',
  ],
  'choices[].message.reasoning_content': [spoke({ reasoning_content: DROPPED_WORD }), ''],
  'choices[].message.annotations': [spoke({ annotations: [{ url_citation: { title: DROPPED_WORD } }] }), ''],
  'choices[].logprobs': [
    { choices: [{ message: { content: 'x' }, logprobs: { content: [{ token: DROPPED_WORD }] } }] },
    '',
  ],
  'choices[].finish_reason': [{}, '"stop_reason":"max_tokens"'],
  created: [{ created: DROPPED_WORD }, ''],
  system_fingerprint: [{ system_fingerprint: DROPPED_WORD }, ''],
  usage: [{}, '"input_tokens":3'],
};
const COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-x',
  ...spoke({}),
  usage: { prompt_tokens: 3, completion_tokens: 4 },
};

describe.each([
  ['Answers: Anthropic to OpenAI', anthropicAdapter, 'chat', MESSAGE, ANTHROPIC_ANSWERS],
  ['Answers: OpenAI to Anthropic', openaiAdapter, 'messages', COMPLETION, OPENAI_ANSWERS],
] as const)('%s', (title, adapter, operation, base, samples: Record<string, [object, string]>) => {
  const rows = rowsOf(title);

  it('names the fields that are tried here', () => {
    expect([...rows.keys()].sort()).toEqual(Object.keys(samples).sort());
  });

  it.each([...rows])('%s is %s', (field, fate) => {
    const [sample, seen] = samples[field] as [object, string];
    const read = adapter.readWhole(
      callOf(operation, {}, { stream: false }),
      Buffer.from(JSON.stringify({ ...base, ...sample })),
    );
    if (isFault(read)) throw new Error(read.detail);
    if (fate === 'dropped') expect(String(read.body)).not.toContain(DROPPED_WORD);
    else expect(String(read.body)).toContain(seen);
    expect(fate === 'dropped').toBe(seen === '');
  });
});
