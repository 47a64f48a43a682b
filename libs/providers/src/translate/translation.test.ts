import { type InboundCall, isFault, isRefusal, type ProviderAdapter, type UpstreamTarget } from '@sluice/contracts';
import { createAdapterRegistry } from '../registry.ts';
import { ANTHROPIC_WHOLE, OPENAI_WHOLE } from './captured.fixture.ts';

const registry = createAdapterRegistry({ clock: { now: () => 1_700_000_000_000 } });
const anthropic = registry.get('anthropic') as ProviderAdapter;
const openai = registry.get('openai') as ProviderAdapter;
const target: UpstreamTarget = {
  baseUrl: 'https://api.example.com/v1',
  dialect: 'openai',
  providerModel: 'theirs',
  secret: 's',
  extraHeaders: {},
  tenantMarker: 'uuid-1',
  carryFields: ['sim'],
  maxOutputTokens: 8_000,
};

function inbound(operation: InboundCall['operation'], body: object, over: Partial<InboundCall> = {}): InboundCall {
  return {
    operation,
    bytes: Buffer.from(JSON.stringify(body)),
    body: body as Record<string, unknown>,
    stream: false,
    wantsUsage: false,
    forwardHeaders: { 'anthropic-beta': 'a', 'openai-beta': 'b' },
    ...over,
  };
}

function sent(adapter: ProviderAdapter, operation: InboundCall['operation'], body: object): Record<string, unknown> {
  const request = adapter.buildRequest(inbound(operation, body), target);
  if (isRefusal(request)) throw new Error(`refused: ${request.param} ${request.message}`);
  return JSON.parse(request.body.toString()) as Record<string, unknown>;
}

const toAnthropic = (body: object) =>
  sent(anthropic, 'chat', { model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body });
const toOpenai = (body: object) =>
  sent(openai, 'messages', { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }], ...body });
const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const openaiTool = { type: 'function', function: { name: 'get_weather', description: 'Weather', parameters } };
const anthropicTool = { name: 'get_weather', description: 'Weather', input_schema: parameters };

describe('a chat completion request to an Anthropic provider', () => {
  it('carries system and developer messages, turns, images, tool calls and their results', () => {
    const body = toAnthropic({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: [{ type: 'text', text: 'Answer in French.' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'auto' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
            { id: 'call_2', type: 'function', function: { name: 'get_weather', arguments: '' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: '15 degrees' },
        { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: 'unknown' }] },
        { role: 'assistant', content: 'Mild.' },
        { role: 'user', content: 'Thanks' },
      ],
      tools: [openaiTool],
    });
    expect(body).toEqual({
      model: 'theirs',
      max_tokens: 8_000,
      system: [
        { type: 'text', text: 'Be brief.' },
        { type: 'text', text: 'Answer in French.' },
      ],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
            { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'call_1', name: 'get_weather', input: { city: 'Paris' } },
            { type: 'tool_use', id: 'call_2', name: 'get_weather', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_1', content: '15 degrees' },
            { type: 'tool_result', tool_use_id: 'call_2', content: [{ type: 'text', text: 'unknown' }] },
          ],
        },
        { role: 'assistant', content: 'Mild.' },
        { role: 'user', content: 'Thanks' },
      ],
      tools: [anthropicTool],
    });
  });

  it.each([
    ['auto', { type: 'auto' }],
    ['required', { type: 'any' }],
    ['none', { type: 'none' }],
    [
      { type: 'function', function: { name: 'get_weather' } },
      { type: 'tool', name: 'get_weather' },
    ],
  ])('tool choice %j becomes %j', (tool_choice, expected) => {
    expect(toAnthropic({ tools: [openaiTool], tool_choice }).tool_choice).toEqual(expected);
  });

  it('carries bounds, sampling, stop, user, effort, one tool at a time and carried fields', () => {
    expect(
      toAnthropic({
        max_completion_tokens: 50,
        max_tokens: 9,
        temperature: 0.5,
        top_p: 0.9,
        stop: 'END',
        user: 'u1',
        sim: { output_tokens: 3 },
        n: 1,
        logprobs: false,
        store: false,
        seed: null,
      }),
    ).toMatchObject({
      max_tokens: 50,
      temperature: 0.5,
      top_p: 0.9,
      stop_sequences: ['END'],
      metadata: { user_id: 'u1' },
      sim: { output_tokens: 3 },
    });
    expect(toAnthropic({ tools: [openaiTool], parallel_tool_calls: false }).tool_choice).toEqual({
      type: 'auto',
      disable_parallel_tool_use: true,
    });
    expect(toAnthropic({ reasoning_effort: 'low', max_tokens: 5_000 }).thinking).toEqual({
      type: 'enabled',
      budget_tokens: 2_048,
    });
    expect(toAnthropic({ reasoning_effort: 'none' }).thinking).toBeUndefined();
  });

  it('asks for JSON by schema where there is one, else through a tool whose input is the answer', () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false };
    expect(
      toAnthropic({ response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } } })
        .output_config,
    ).toEqual({ format: { type: 'json_schema', schema } });
    const forced = toAnthropic({ response_format: { type: 'json_object' } });
    expect(forced.tool_choice).toMatchObject({ type: 'tool', name: 'sluice_json_answer' });
    const answer = {
      ...ANTHROPIC_WHOLE,
      content: [{ type: 'tool_use', id: 't', name: 'sluice_json_answer', input: { a: 1 } }],
      stop_reason: 'tool_use',
    };
    const read = anthropic.readWhole(inbound('chat', {}), Buffer.from(JSON.stringify(answer)));
    if (isFault(read)) throw new Error(read.detail);
    expect(JSON.parse(String(read.body)).choices[0]).toMatchObject({
      message: { content: '{"a":1}' },
      finish_reason: 'stop',
    });
  });

  it("takes nothing of the caller's own beta headers along", () => {
    const request = anthropic.buildRequest(
      inbound('chat', { model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
      target,
    );
    if (isRefusal(request)) throw new Error('refused');
    expect(request.headers).not.toContain('openai-beta');
    expect(request.headers).toEqual(
      expect.arrayContaining(['x-api-key', 's', 'anthropic-version', '2023-06-01', 'x-sluice-tenant', 'uuid-1']),
    );
    expect(request.path).toBe('/v1/v1/messages');
  });

  it.each<[string, object]>([
    ['n', { n: 2 }],
    ['logprobs', { logprobs: true }],
    ['audio', { audio: { voice: 'x' } }],
    ['modalities', { modalities: ['text', 'audio'] }],
    ['logit_bias', { logit_bias: { 5: 1 } }],
    ['seed', { seed: 1 }],
    ['frequency_penalty', { frequency_penalty: 0.5 }],
    ['temperature', { temperature: 1.5 }],
    ['temperature', { temperature: 0.5, reasoning_effort: 'low' }],
    ['reasoning_effort', { reasoning_effort: 'high', max_tokens: 1_000 }],
    ['reasoning_effort', { reasoning_effort: 'low', tools: [openaiTool], tool_choice: 'required' }],
    ['response_format', { response_format: { type: 'json_object' }, tools: [openaiTool] }],
    ['a_field_of_tomorrow', { a_field_of_tomorrow: 1 }],
    ['stop', { stop: '\n' }],
    ['tools[0].type', { tools: [{ type: 'custom', custom: {} }] }],
    ['messages[0].mood', { messages: [{ role: 'user', mood: 'x', content: 'x' }] }],
    [
      'messages[0].content[0].type',
      { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] },
    ],
    [
      'messages[0].content[0].image_url.url',
      {
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://example.com/a.png' } }] }],
      },
    ],
    [
      'messages[0].tool_calls[0].function.arguments',
      { messages: [{ role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: '[1' } }] }] },
    ],
    [
      'messages[0].tool_calls[0].function.arguments',
      {
        messages: [
          {
            role: 'assistant',
            tool_calls: [
              { id: 'c', function: { name: 'f', arguments: `{"a":${'['.repeat(1_000)}${']'.repeat(1_000)}}` } },
            ],
          },
        ],
      },
    ],
    ['messages', { messages: [{ role: 'system', content: 'alone' }] }],
  ])('what cannot be carried is named: %s in %j', (param, over) => {
    expect(
      anthropic.judge(inbound('chat', { model: 'm', messages: [{ role: 'user', content: 'hi' }], ...over }), []),
    ).toMatchObject({ code: 'unsupported_field', param });
  });
});

describe('a message request to an OpenAI provider', () => {
  it('carries system blocks, turns, images, tool use and its results', () => {
    const body = toOpenai({
      system: [
        { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'In French.' },
      ],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
            { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I will see.' },
            { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Paris' } },
            { type: 'tool_use', id: 'toolu_2', name: 'get_weather', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: '15 degrees' }] },
            { type: 'tool_result', tool_use_id: 'toolu_2', is_error: true, content: 'no such city' },
            { type: 'text', text: 'And?' },
          ],
        },
        { role: 'system', content: 'Now in German.' },
      ],
      tools: [{ ...anthropicTool, cache_control: { type: 'ephemeral' } }],
    });
    expect(body).toEqual({
      model: 'theirs',
      max_completion_tokens: 100,
      messages: [
        {
          role: 'system',
          content: [
            { type: 'text', text: 'Be brief.' },
            { type: 'text', text: 'In French.' },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
          ],
        },
        {
          role: 'assistant',
          content: 'I will see.',
          tool_calls: [
            { id: 'toolu_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
            { id: 'toolu_2', type: 'function', function: { name: 'get_weather', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'toolu_1', content: '15 degrees' },
        { role: 'tool', tool_call_id: 'toolu_2', content: 'Error: no such city' },
        { role: 'user', content: [{ type: 'text', text: 'And?' }] },
        { role: 'system', content: 'Now in German.' },
      ],
      tools: [openaiTool],
    });
  });

  it.each([
    [
      { type: 'auto', disable_parallel_tool_use: true },
      { tool_choice: 'auto', parallel_tool_calls: false },
    ],
    [{ type: 'any' }, { tool_choice: 'required' }],
    [{ type: 'none' }, { tool_choice: 'none' }],
    [{ type: 'tool', name: 'get_weather' }, { tool_choice: { type: 'function', function: { name: 'get_weather' } } }],
  ])('tool choice %j becomes %j', (tool_choice, expected) => {
    expect(toOpenai({ tools: [anthropicTool], tool_choice })).toMatchObject(expected);
  });

  it("carries sampling, stop sequences, user, thinking and the answer's format; a stream asks for its usage", () => {
    expect(
      toOpenai({
        temperature: 0.2,
        top_p: 0.9,
        stop_sequences: ['END'],
        metadata: { user_id: 'u1' },
        thinking: { type: 'enabled', budget_tokens: 10_000 },
        stream: true,
        sim: { output_tokens: 3 },
      }),
    ).toMatchObject({
      temperature: 0.2,
      top_p: 0.9,
      stop: ['END'],
      user: 'u1',
      reasoning_effort: 'medium',
      stream: true,
      stream_options: { include_usage: true },
      sim: { output_tokens: 3 },
    });
    const schema = { type: 'object' };
    expect(toOpenai({ output_config: { effort: 'high', format: { type: 'json_schema', schema } } })).toMatchObject({
      reasoning_effort: 'high',
      response_format: { type: 'json_schema', json_schema: { schema } },
    });
  });

  it.each<[string, object]>([
    ['top_k', { top_k: 5 }],
    ['container', { container: 'c' }],
    ['context_management', { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } }],
    ['stop_sequences', { stop_sequences: ['a', 'b', 'c', 'd', 'e'] }],
    ['tools[0].type', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['metadata.other', { metadata: { other: 1 } }],
    [
      'messages',
      { messages: [{ role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: 's' }] }] },
    ],
    ['messages[0].content[0].type', { messages: [{ role: 'user', content: [{ type: 'container_upload' }] }] }],
    [
      'messages[0].content[0].source.type',
      { messages: [{ role: 'user', content: [{ type: 'document', source: {} }] }] },
    ],
    [
      'messages[0].content[0].source.type',
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] },
    ],
    [
      'messages[0].content[0].content[0].source.type',
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source: {} }] }],
          },
        ],
      },
    ],
  ])('what cannot be carried is named: %s in %j', (param, over) => {
    expect(
      openai.judge(
        inbound('messages', { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...over }),
        [],
      ),
    ).toMatchObject({ code: 'unsupported_field', param });
  });
});

describe('a whole answer in the other dialect', () => {
  it('a message becomes a chat completion with text, tools and disjoint usage', () => {
    const read = anthropic.readWhole(inbound('chat', {}), Buffer.from(JSON.stringify(ANTHROPIC_WHOLE)));
    if (isFault(read)) throw new Error(read.detail);
    expect(read.usage).toMatchObject({ input: 50, cache_read: 100, cache_write: 20, output: 60 });
    expect(JSON.parse(String(read.body))).toMatchObject({
      id: 'msg_01',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'claude-x',
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: 'Let me look.',
            tool_calls: [
              { id: 'toolu_01', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
            ],
          },
        },
      ],
      usage: {
        prompt_tokens: 170,
        completion_tokens: 60,
        total_tokens: 230,
        prompt_tokens_details: { cached_tokens: 100 },
      },
    });
  });
  it('a chat completion becomes a message with text, tools and disjoint usage', () => {
    const read = openai.readWhole(inbound('messages', {}), Buffer.from(JSON.stringify(OPENAI_WHOLE)));
    if (isFault(read)) throw new Error(read.detail);
    expect(JSON.parse(String(read.body))).toEqual({
      id: 'chatcmpl-1',
      type: 'message',
      role: 'assistant',
      model: 'gpt-x',
      stop_reason: 'tool_use',
      stop_sequence: null,
      content: [
        { type: 'text', text: 'Let me look.' },
        { type: 'tool_use', id: 'call_1', name: 'get_weather', input: { city: 'Paris' } },
      ],
      usage: {
        input_tokens: 70,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 30,
        output_tokens: 40,
        output_tokens_details: { thinking_tokens: 15 },
      },
    });
  });
  it.each([
    ['{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":"{oh"}}]}}]}'],
    ['{"choices":[]}'],
    ['<html>'],
  ])('%s is a fault', (text) => {
    expect(isFault(openai.readWhole(inbound('messages', {}), Buffer.from(text)))).toBe(true);
  });
  it.each([
    ['max_tokens', 'length'],
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['refusal', 'content_filter'],
    ['model_context_window_exceeded', 'length'],
  ])('stop reason %s is finish reason %s', (stop_reason, finish) => {
    const read = anthropic.readWhole(
      inbound('chat', {}),
      Buffer.from(JSON.stringify({ ...ANTHROPIC_WHOLE, content: [{ type: 'text', text: 'Hi' }], stop_reason })),
    );
    expect(JSON.parse(String((read as { body?: Buffer }).body)).choices[0].finish_reason).toBe(finish);
  });
  it("an error about the request comes in the caller's shape, with its words", () => {
    const chat = anthropic.classify(
      400,
      {},
      Buffer.from('{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens"}}'),
      inbound('chat', {}),
    );
    expect(chat.kind).toBe('context_window');
    expect(JSON.parse(String(chat.body))).toEqual({
      error: {
        message: 'prompt is too long: 9 tokens',
        type: 'invalid_request_error',
        param: null,
        code: 'context_length_exceeded',
      },
    });
    const messages = openai.classify(
      404,
      {},
      Buffer.from('{"error":{"message":"no such model","code":"model_not_found"}}'),
      inbound('messages', {}),
    );
    expect(JSON.parse(String(messages.body))).toEqual({
      type: 'error',
      error: { type: 'not_found_error', message: 'no such model' },
    });
    expect(openai.classify(400, {}, Buffer.from('<html>'), inbound('messages', {})).body).toBeUndefined();
  });
});
