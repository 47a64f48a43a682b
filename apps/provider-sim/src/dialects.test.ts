import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { instantBody, post, startTestSim, type TestSim } from './testing.ts';

let sim: TestSim;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  sim = await startTestSim();
  openai = new OpenAI({ apiKey: 'any', baseURL: `${sim.urls.primary}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: 'any', baseURL: sim.urls.secondary, maxRetries: 0 });
});
afterAll(() => sim.close());

const instant = { sim: { ttft_ms: 0, chunk_ms: 0 } };
const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city'],
};
const messages = [{ role: 'user' as const, content: 'Hello there' }];

describe('the OpenAI dialect, by the official client', () => {
  const base = { model: 'sim-small', messages, ...instant };
  const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: schema } }];

  it('answers whole, the same each time, with a quarter of the characters as input tokens', async () => {
    const [one, two] = [await openai.chat.completions.create(base), await openai.chat.completions.create(base)];
    expect(one).toEqual(two);
    expect(one.choices[0]?.message.content?.split(' ')).toHaveLength(20);
    expect(one.choices[0]?.finish_reason).toBe('stop');
    expect(one.usage).toEqual({
      prompt_tokens: 3,
      completion_tokens: 20,
      total_tokens: 23,
      prompt_tokens_details: { cached_tokens: 0 },
    });
  });

  it('streams a role, one token per chunk, a finish, and usage only when asked', async () => {
    const seen = [];
    for await (const chunk of await openai.chat.completions.create({
      ...base,
      stream: true,
      max_tokens: 5,
      stream_options: { include_usage: true },
    }))
      seen.push(chunk);
    expect(seen[0]?.choices[0]?.delta.role).toBe('assistant');
    expect(seen.slice(1, 6).every((chunk) => chunk.choices[0]?.delta.content !== undefined)).toBe(true);
    expect(seen[6]?.choices[0]?.finish_reason).toBe('length');
    expect(seen[7]?.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 5 });
    expect(seen).toHaveLength(8);
    const bare = await (await post(`${sim.urls.primary}/v1/chat/completions`, instantBody({ stream: true }))).text();
    expect(bare).not.toContain('"usage"');
    expect(bare.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('streams the arguments of a tool call in fragments that join to JSON of its schema', async () => {
    let text = '';
    let fragments = 0;
    let finish: string | null | undefined;
    for await (const chunk of await openai.chat.completions.create({
      ...base,
      tools,
      tool_choice: 'required',
      stream: true,
    })) {
      const part = chunk.choices[0]?.delta.tool_calls?.[0]?.function?.arguments;
      if (part) fragments++;
      text += part ?? '';
      finish = chunk.choices[0]?.finish_reason ?? finish;
    }
    expect(fragments).toBeGreaterThanOrEqual(3);
    expect(JSON.parse(text)).toEqual({ city: expect.any(String), days: expect.any(Number) });
    expect(finish).toBe('tool_calls');
  });

  it('calls a tool on auto only when the last user message speaks of a tool', async () => {
    const ask = async (content: string) =>
      (await openai.chat.completions.create({ ...base, messages: [{ role: 'user', content }], tools })).choices[0]
        ?.message.tool_calls?.length ?? 0;
    expect([await ask('Use the tool please'), await ask('Say hello')]).toEqual([1, 0]);
  });

  it('gives n choices and counts the output of all', async () => {
    const answer = await openai.chat.completions.create({ ...base, n: 3, max_completion_tokens: 4 });
    expect(answer.choices.map((choice) => choice.index)).toEqual([0, 1, 2]);
    expect(answer.usage?.completion_tokens).toBe(12);
  });

  it('embeds texts as unit vectors and lists its models', async () => {
    const { data, usage } = await openai.embeddings.create({
      model: 'sim-small',
      input: ['abcd', 'efgh'],
      dimensions: 8,
      ...instant,
    });
    expect(data.map((one) => one.embedding.length)).toEqual([8, 8]);
    expect(data[0]?.embedding.reduce((sum, value) => sum + value * value, 0)).toBeCloseTo(1, 5);
    expect(usage).toEqual({ prompt_tokens: 2, total_tokens: 2 });
    expect((await openai.models.list()).data.map((model) => model.id)).toEqual([
      'sim-large',
      'sim-medium',
      'sim-small',
    ]);
  });

  it.each([
    ['an unknown field of sim', { sim: { output_token: 3 } }, 400],
    ['a sim value out of range', { sim: { ttft_ms: -1 } }, 400],
    ['no messages', { messages: [] }, 400],
    ['an unknown model', { model: 'gpt' }, 404],
  ])('refuses %s', async (_what, change, status) => {
    expect((await post(`${sim.urls.primary}/v1/chat/completions`, { ...instantBody(), ...change })).status).toBe(
      status,
    );
  });

  it('refuses a caller without a credential', async () => {
    const answer = await post(`${sim.urls.primary}/v1/chat/completions`, instantBody(), {
      headers: { authorization: '' },
    });
    expect(answer.status).toBe(401);
  });
});

describe('the Anthropic dialect, by the official client', () => {
  const base = { model: 'sim-small', max_tokens: 100, messages, ...instant };
  const tools = [{ name: 'weather', input_schema: { ...schema, type: 'object' as const } }];

  it('answers whole, and obeys cached tokens, output tokens and the limit', async () => {
    const body = { ...base, sim: { ttft_ms: 0, chunk_ms: 0, cached_tokens: 2, output_tokens: 7 } };
    const answer = await anthropic.messages.create(body);
    expect(answer.usage).toMatchObject({ input_tokens: 1, cache_read_input_tokens: 2, output_tokens: 7 });
    expect(answer.stop_reason).toBe('end_turn');
    expect((await anthropic.messages.create({ ...base, max_tokens: 3 })).stop_reason).toBe('max_tokens');
  });

  it('streams to the very message of the whole answer', async () => {
    const whole = await anthropic.messages.create(base);
    const streamed = await anthropic.messages.stream(base).finalMessage();
    expect([streamed.content, streamed.usage.output_tokens, streamed.stop_reason]).toEqual([
      whole.content,
      whole.usage.output_tokens,
      whole.stop_reason,
    ]);
  });

  it('streams a tool call that joins to the input of the whole answer', async () => {
    const body = { ...base, tools, tool_choice: { type: 'any' as const } };
    const streamed = await anthropic.messages.stream(body).finalMessage();
    expect(streamed.content[0]).toMatchObject({
      type: 'tool_use',
      name: 'weather',
      input: { city: expect.any(String) },
    });
    expect(streamed.content).toEqual((await anthropic.messages.create(body)).content);
    expect(streamed.stop_reason).toBe('tool_use');
  });

  it('counts tokens as it bills them, and lists its models', async () => {
    expect(await anthropic.messages.countTokens({ model: 'sim-small', messages, system: 'abcd' })).toEqual({
      input_tokens: 4,
    });
    expect((await anthropic.models.list()).data).toHaveLength(3);
  });
});

describe('what both dialects do alike', () => {
  const openaiTools = ['weather', 'clock'].map((name) => ({
    type: 'function' as const,
    function: { name, parameters: schema },
  }));
  const anthropicTools = ['weather', 'clock'].map((name) => ({
    name,
    input_schema: { ...schema, type: 'object' as const },
  }));
  const say = (content: string) => [{ role: 'user' as const, content }];

  it('all tools are called when the user speaks of tools, whole and streamed, unless one at a time is asked for', async () => {
    const base = { model: 'sim-small', messages: say('Use your tools'), ...instant };
    const whole = await openai.chat.completions.create({ ...base, tools: openaiTools });
    expect(
      whole.choices[0]?.message.tool_calls?.map(
        (call) =>
          call.type === 'function' && [call.function.name, Object.keys(JSON.parse(call.function.arguments) as object)],
      ),
    ).toEqual([
      ['weather', ['city', 'days']],
      ['clock', ['city', 'days']],
    ]);
    const streamed = await openai.chat.completions.stream({ ...base, tools: openaiTools }).finalChatCompletion();
    expect(streamed.choices[0]?.message.tool_calls).toMatchObject(whole.choices[0]?.message.tool_calls ?? []);
    expect(
      (await openai.chat.completions.create({ ...base, tools: openaiTools, parallel_tool_calls: false })).choices[0]
        ?.message.tool_calls,
    ).toHaveLength(1);
    const message = await anthropic.messages.create({ ...base, max_tokens: 500, tools: anthropicTools });
    expect(message.content.map((block) => block.type === 'tool_use' && block.name)).toEqual(['weather', 'clock']);
    expect(
      (await anthropic.messages.stream({ ...base, max_tokens: 500, tools: anthropicTools }).finalMessage()).content,
    ).toEqual(message.content);
  });

  it('after the results of tools comes text, and a result without its call is refused', async () => {
    const base = { model: 'sim-small', max_tokens: 500, tools: anthropicTools, ...instant };
    const first = await anthropic.messages.create({ ...base, messages: say('Use a tool') });
    const [call] = first.content;
    const id = call?.type === 'tool_use' ? call.id : '';
    const turns = (tool_use_id: string) => [
      ...say('Use a tool'),
      { role: 'assistant' as const, content: first.content },
      { role: 'user' as const, content: [{ type: 'tool_result' as const, tool_use_id, content: '15' }] },
    ];
    expect((await anthropic.messages.create({ ...base, messages: turns(id) })).content[0]?.type).toBe('text');
    await expect(anthropic.messages.create({ ...base, messages: turns('toolu_other') })).rejects.toMatchObject({
      status: 400,
    });
  });

  it('answers with JSON of the schema that was asked for', async () => {
    const format = { type: 'json_schema' as const, schema };
    const message = await anthropic.messages.create({
      model: 'sim-small',
      max_tokens: 500,
      messages,
      output_config: { format },
      ...instant,
    });
    expect(JSON.parse(message.content[0]?.type === 'text' ? message.content[0].text : '')).toEqual({
      city: expect.any(String),
      days: expect.any(Number),
    });
    const chat = await openai.chat.completions.create({
      model: 'sim-small',
      messages,
      response_format: { type: 'json_object' },
      ...instant,
    });
    expect(JSON.parse(chat.choices[0]?.message.content ?? '')).toEqual({ answer: expect.any(String) });
  });

  it('thinks in a signed block when asked to, and refuses a thought whose signature is not its own', async () => {
    const base = {
      model: 'sim-small',
      max_tokens: 2_000,
      thinking: { type: 'enabled' as const, budget_tokens: 1_024 },
      ...instant,
    };
    const first = await anthropic.messages.create({ ...base, messages });
    expect(first.content.map((block) => block.type)).toEqual(['thinking', 'text']);
    expect((await anthropic.messages.stream({ ...base, messages }).finalMessage()).content).toEqual(first.content);
    const again = (content: typeof first.content) =>
      anthropic.messages.create({ ...base, messages: [...messages, { role: 'assistant', content }, ...messages] });
    expect((await again(first.content)).stop_reason).toBe('end_turn');
    await expect(
      again(first.content.map((block) => (block.type === 'thinking' ? { ...block, signature: 'other' } : block))),
    ).rejects.toMatchObject({ status: 400 });
  });
});
