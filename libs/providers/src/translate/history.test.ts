import { type InboundCall, isRefusal, type ProviderAdapter, type UpstreamRequest } from '@sluice/contracts';
import { anthropicAdapter, callOf, openaiAdapter } from '../wire.fixture.ts';

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

function build(adapter: ProviderAdapter, inbound: InboundCall): UpstreamRequest {
  const request = adapter.buildRequest(inbound, TARGET);
  if (isRefusal(request)) throw new Error(`${request.param}: ${request.message}`);
  return request;
}

interface Body extends Record<string, unknown> {
  readonly messages: {
    role: string;
    content: unknown;
    tool_calls?: { id: string; function: { arguments: string } }[];
    tool_call_id?: string;
  }[];
}
const parse = (request: UpstreamRequest): Body => JSON.parse(request.body.toString()) as Body;
const toAnthropic = (body: object): Body => parse(build(anthropicAdapter, callOf('chat', { model: 'm', ...body })));
const toOpenai = (body: object): Body =>
  parse(build(openaiAdapter, callOf('messages', { model: 'm', max_tokens: 99, ...body })));
const user = { role: 'user', content: 'hi' };
const call = (id: string, args: unknown = '{}') => ({ id, type: 'function', function: { name: 'f', arguments: args } });

describe('what a provider put into its answer', () => {
  it.each<[string, object]>([
    ['annotations', { annotations: [] }],
    ['a refusal that is null', { refusal: null }],
    ['reasoning_content', { reasoning_content: 'hm' }],
    ['reasoning', { reasoning: 'hm' }],
    ['reasoning_details', { reasoning_details: [{ type: 'reasoning.text', text: 'hm' }] }],
    ['audio that is null', { audio: null }],
    ['a function_call that is null', { function_call: null }],
    ['a name', { name: 'Ann' }],
    ['no tool calls', { tool_calls: [] }],
    ['what a helper of the SDK parsed', { parsed: { a: 1 } }],
    ['what no vendor has thought of yet', { thoughts_of_tomorrow: { a: 1 } }],
    [
      'parts of thoughts',
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
          { type: 'text', text: 'Hello' },
        ],
      },
    ],
  ])('is never refused in an OpenAI conversation: %s', (_what, more) => {
    const answer = { role: 'assistant', content: 'Hello', ...more };
    expect(toAnthropic({ messages: [user, answer, user] }).messages[1]).toEqual({
      role: 'assistant',
      content: 'Hello',
    });
  });

  it('is not refused beside a tool call either', () => {
    const made = { ...call('c'), index: 0, extra_content: { google: { thought_signature: 's' } } };
    const { messages } = toAnthropic({
      messages: [
        user,
        { role: 'assistant', content: null, tool_calls: [made] },
        { role: 'tool', name: 'f', tool_call_id: 'c', content: 'x' },
      ],
    });
    expect(messages[1]?.content).toEqual([{ type: 'tool_use', id: 'c', name: 'f', input: {} }]);
  });

  it('is never refused in an Anthropic conversation', () => {
    const content = [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'redacted_thinking', data: 's' },
      { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
      { type: 'block_of_tomorrow' },
      { type: 'text', text: 'Hello', citations: null },
    ];
    const answer = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'x',
      content,
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {},
    };
    expect(toOpenai({ messages: [user, answer, user] }).messages[1]).toEqual({ role: 'assistant', content: 'Hello' });
  });

  it('leaves no empty message where nothing else was in it', () => {
    const answer = { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: 's' }] };
    expect(toOpenai({ messages: [user, answer, user] }).messages).toHaveLength(2);
    expect(
      toAnthropic({ messages: [user, { role: 'assistant', content: '', reasoning: 'hm' }, user] }).messages,
    ).toHaveLength(2);
  });

  it('of the old kind, a function call and its result, goes along', () => {
    const messages = [
      user,
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
      { role: 'function', name: 'f', content: '7' },
    ];
    expect(toAnthropic({ messages }).messages.slice(1)).toEqual([
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_function_0', name: 'f', input: { a: 1 } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_function_0', content: '7' }] },
    ]);
  });
});

describe('a translated call keeps to the rules of its target', () => {
  it('ids of tools are in letters that Anthropic takes, the same for a call and its result', () => {
    const { messages } = toAnthropic({
      messages: [
        user,
        { role: 'assistant', tool_calls: [call('functions.Bash:0'), call('functions_Bash_0')] },
        { role: 'tool', tool_call_id: 'functions.Bash:0', content: 'x' },
        { role: 'tool', tool_call_id: 'functions_Bash_0', content: 'y' },
      ],
    });
    const uses = (messages[1]?.content as { id: string }[]).map(({ id }) => id);
    const results = (messages[2]?.content as { tool_use_id: string }[]).map((result) => result.tool_use_id);
    expect(uses).toEqual(results);
    expect(new Set(uses).size).toBe(2);
    for (const id of uses) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);
  });

  it('ids that an OpenAI provider gave come back to it as they were', () => {
    const id = 'enc-ZnVuY3Rpb25zLkJhc2g6MA';
    const { messages } = toOpenai({
      messages: [
        user,
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id }] },
      ],
    });
    expect(messages[1]?.tool_calls?.[0]?.id).toBe('functions.Bash:0');
    expect(messages[2]?.tool_call_id).toBe('functions.Bash:0');
  });

  it.each<[string, unknown]>([
    ['an empty text', ''],
    ['white space', ' \n'],
    ['no parts', []],
    ['a part without words', [{ type: 'text', text: '' }]],
  ])('empty contents are left out: %s', (_what, content) => {
    const { messages, system } = toAnthropic({
      messages: [{ role: 'system', content }, user, { role: 'assistant', content }, { role: 'user', content }, user],
    });
    expect(system).toBeUndefined();
    expect(messages).toEqual([user, user]);
  });

  it('an empty result of a tool has no content, and a part without words goes from among others', () => {
    const { messages } = toAnthropic({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '' },
            { type: 'image_url', image_url: { url: 'data:image/jpg;base64,AA==' } },
          ],
        },
        { role: 'assistant', tool_calls: [call('c')] },
        { role: 'tool', tool_call_id: 'c', content: '' },
      ],
    });
    expect(messages[0]?.content).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AA==' } },
    ]);
    expect(messages[2]?.content).toEqual([{ type: 'tool_result', tool_use_id: 'c' }]);
  });

  it('an answer to be continued does not end in white space', () => {
    expect(toAnthropic({ messages: [user, { role: 'assistant', content: 'Once \n' }] }).messages[1]?.content).toBe(
      'Once',
    );
  });

  it('an id of the end user is bounded, and stays the same user', () => {
    const long = 'u'.repeat(159);
    const sent = toOpenai({ messages: [user], metadata: { user_id: long } }).user as string;
    expect(sent).toMatch(/^[0-9a-f]{64}$/);
    expect(toOpenai({ messages: [user], metadata: { user_id: long } }).user).toBe(sent);
    expect(toOpenai({ messages: [user], metadata: { user_id: 'u'.repeat(64) } }).user).toHaveLength(64);
    expect(toAnthropic({ messages: [user], user: 'u'.repeat(300) }).metadata).toEqual({
      user_id: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
  });

  it('a schema has its properties, and a type', () => {
    expect(
      toOpenai({ messages: [user], tools: [{ name: 'f', input_schema: { type: 'object' } }] }).tools,
    ).toMatchObject([{ function: { parameters: { type: 'object', properties: {} } } }]);
    expect(
      toAnthropic({
        messages: [user],
        tools: [{ type: 'function', function: { name: 'f', parameters: { required: [] } } }],
      }).tools,
    ).toMatchObject([{ input_schema: { type: 'object', properties: {}, required: [] } }]);
  });

  it('a tool whose name is longer than OpenAI takes is refused by us, or left out and named', () => {
    const body = (name: string) => ({
      model: 'm',
      max_tokens: 9,
      messages: [user],
      tools: [{ name, input_schema: {} }],
    });
    expect(openaiAdapter.judge(callOf('messages', body('n'.repeat(64))), [])).toBeUndefined();
    expect(openaiAdapter.judge(callOf('messages', body('n'.repeat(65))), [])).toMatchObject({ param: 'tools[0].name' });
    const request = build(openaiAdapter, callOf('messages', body('n'.repeat(65)), { acrossDialects: 'drop' }));
    expect([request.dropped, parse(request).tools]).toEqual([['tools[0].name'], undefined]);
  });

  it('image/jpg is image/jpeg the other way too', () => {
    const source = { type: 'base64', media_type: 'image/jpg', data: 'AA==' };
    expect(JSON.stringify(toOpenai({ messages: [{ role: 'user', content: [{ type: 'image', source }] }] }))).toContain(
      'data:image/jpeg;base64,AA==',
    );
  });

  it('no thinking is asked for beside tool calls without thoughts, and the caller is told', () => {
    const body = {
      model: 'm',
      reasoning_effort: 'high',
      messages: [
        user,
        { role: 'assistant', tool_calls: [call('c')] },
        { role: 'tool', tool_call_id: 'c', content: 'x' },
      ],
    };
    const request = build(anthropicAdapter, callOf('chat', body));
    expect(parse(request).thinking).toBeUndefined();
    expect(request.dropped).toEqual(['reasoning_effort']);
    expect(toAnthropic({ ...body, messages: [user] }).thinking).toMatchObject({ type: 'enabled' });
  });
});

describe('arguments of tools in a conversation', () => {
  const BIG = '{"n": 1234567890123456789, "m": 1.0, "10": 1, "2": 2}';

  it('keep their text on the way to Anthropic, as a text and as an object', () => {
    for (const args of [JSON.stringify(BIG), BIG]) {
      const bytes = Buffer.from(
        `{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${args}}}]}]}`,
      );
      const inbound = callOf('chat', JSON.parse(bytes.toString()) as object, { bytes });
      expect(build(anthropicAdapter, inbound).body.toString()).toContain(`"input":${BIG}`);
    }
  });

  it('keep their text on the way to OpenAI', () => {
    const bytes = Buffer.from(
      `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"c","name":"f","input":${BIG}}]}]}`,
    );
    const inbound = callOf('messages', JSON.parse(bytes.toString()) as object, { bytes });
    expect(parse(build(openaiAdapter, inbound)).messages[1]?.tool_calls?.[0]?.function.arguments).toBe(BIG);
  });
});

describe('documents, images and marks', () => {
  it('a PDF, a text and an image in the result of a tool reach OpenAI', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } };
    const { messages } = toOpenai({
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'document',
              title: 'a.pdf',
              source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
            },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Plain.' } },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'shot', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c', content: [image] },
            { type: 'text', text: 'See?' },
          ],
        },
      ],
    });
    expect(messages[0]?.content).toEqual([
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' } },
      { type: 'text', text: 'Plain.' },
    ]);
    expect(messages.slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'c', content: 'The result follows.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Result of the tool call c:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
          { type: 'text', text: 'See?' },
        ],
      },
    ]);
  });

  it('a PDF, an image in the result of a tool and marks of the cache reach Anthropic', () => {
    const { messages, system, tools } = toAnthropic({
      tools: [{ type: 'function', function: { name: 'f' }, cache_control: { type: 'ephemeral' } }],
      messages: [
        {
          role: 'system',
          content: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
        },
        {
          role: 'user',
          content: [{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' } }],
        },
        { role: 'assistant', tool_calls: [call('c')] },
        {
          role: 'tool',
          tool_call_id: 'c',
          content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }],
        },
      ],
    });
    expect(system).toEqual([{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }]);
    expect(tools).toMatchObject([{ cache_control: { type: 'ephemeral' } }]);
    expect(messages[0]?.content).toEqual([
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' }, title: 'a.pdf' },
    ]);
    expect(messages[2]?.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'c',
        content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }],
      },
    ]);
  });
});

it('of more than four marks of the cache the last four reach Anthropic, and the caller is told', () => {
  const cache_control = { type: 'ephemeral' };
  const marked = (text: string) => ({ type: 'text', text, cache_control });
  const sent = (texts: string[]) =>
    build(
      anthropicAdapter,
      callOf('chat', {
        tools: [{ type: 'function', function: { name: 'f' }, cache_control }],
        messages: [
          { role: 'system', content: [marked('a')] },
          { role: 'user', content: texts.map(marked) },
        ],
      }),
    );
  const four = sent(['b', 'c']);
  expect(four.dropped).toBeUndefined();
  expect(four.body.toString().match(/cache_control/g)).toHaveLength(4);
  const six = sent(['b', 'c', 'd', 'e']);
  expect(six.dropped).toEqual(['cache_control']);
  expect(six.body.toString().match(/cache_control/g)).toHaveLength(4);
  expect(parse(six).messages[0]?.content).toEqual(['b', 'c', 'd', 'e'].map(marked));
});

describe('a workspace that drops what cannot be carried', () => {
  it('is told every path, and the rest of the call goes', () => {
    const body = {
      model: 'm',
      n: 3,
      seed: 7,
      temperature: 1.5,
      tools: [{ type: 'custom', custom: {} }],
      tool_choice: 'required',
      messages: [
        { ...user, mood: 1 },
        {
          role: 'user',
          content: [
            { type: 'input_audio', input_audio: {} },
            { type: 'text', text: 'x' },
          ],
        },
        { role: 'nobody' },
      ],
    };
    const request = build(anthropicAdapter, callOf('chat', body, { acrossDialects: 'drop' }));
    expect(request.dropped).toEqual([
      'n',
      'seed',
      'messages[0].mood',
      'messages[1].content[0].type',
      'messages[2].role',
      'temperature',
      'tools[0].type',
      'tool_choice',
    ]);
    expect(parse(request)).toEqual({
      model: 'theirs',
      max_tokens: 8_000,
      messages: [user, { role: 'user', content: 'x' }],
    });
  });

  it('is still refused a call of which nothing is left, and one that is wrong in its own dialect', () => {
    const alone = { model: 'm', messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] };
    expect(anthropicAdapter.judge(callOf('chat', alone, { acrossDialects: 'drop' }), [])).toMatchObject({
      code: 'unsupported_field',
      param: 'messages',
    });
    const wrong = { model: 'm', messages: [user], stop: [7] };
    expect(anthropicAdapter.judge(callOf('chat', wrong, { acrossDialects: 'drop' }), [])).toMatchObject({
      code: 'invalid_value',
      param: 'stop',
    });
  });
});

it('a coding agent goes on with an OpenAI-only model', () => {
  const cached = { cache_control: { type: 'ephemeral' } };
  const { messages, tools, reasoning_effort } = toOpenai({
    system: [
      { type: 'text', text: 'You are an agent.', ...cached },
      { type: 'text', text: 'The project is in TypeScript.', ...cached },
    ],
    metadata: { user_id: `user_${'a'.repeat(64)}_account__session_${'b'.repeat(36)}` },
    thinking: { type: 'enabled', budget_tokens: 31_999 },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    stream: true,
    temperature: 1,
    tools: [
      {
        name: 'Bash',
        description: 'Runs',
        input_schema: {
          $schema: 'http://json-schema.org/draft-07/schema#',
          type: 'object',
          properties: { command: { type: 'string' } },
        },
        eager_input_streaming: true,
      },
      { name: 'Read', input_schema: { type: 'object' }, ...cached },
    ],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system-reminder>x</system-reminder>' },
          { type: 'text', text: 'Fix it.', ...cached },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Look first.', signature: 's' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } },
          { type: 'tool_use', id: 'toolu_2', name: 'Read', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { tool_use_id: 'toolu_1', type: 'tool_result', content: 'a.ts', is_error: false },
          {
            tool_use_id: 'toolu_2',
            type: 'tool_result',
            content: [{ type: 'text', text: 'no such file' }],
            is_error: true,
            ...cached,
          },
        ],
      },
    ],
  });
  expect(messages).toEqual([
    {
      role: 'system',
      content: [
        { type: 'text', text: 'You are an agent.' },
        { type: 'text', text: 'The project is in TypeScript.' },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'text', text: '<system-reminder>x</system-reminder>' },
        { type: 'text', text: 'Fix it.' },
      ],
    },
    {
      role: 'assistant',
      content: 'I look.',
      tool_calls: [
        { id: 'toolu_1', type: 'function', function: { name: 'Bash', arguments: '{"command":"ls"}' } },
        { id: 'toolu_2', type: 'function', function: { name: 'Read', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'toolu_1', content: 'a.ts' },
    { role: 'tool', tool_call_id: 'toolu_2', content: 'Error: no such file' },
  ]);
  expect(tools).toHaveLength(2);
  expect(reasoning_effort).toBe('high');
});
