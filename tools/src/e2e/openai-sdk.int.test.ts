import OpenAI from 'openai';
import { eventually } from '@sluice/testing';
import { keyOf } from './fixture-snapshot.ts';
import { type GatewayStack, startGatewayStack } from './gateway-stack.ts';

let stack: GatewayStack;
let client: OpenAI;

beforeAll(async () => {
  stack = await startGatewayStack({
    workspaces: [
      { tenant: 'acme', slug: 'acme-prod' },
      { tenant: 'tiny', slug: 'tiny-prod', tenantLimits: { requests: { perMinute: 20, burst: 1 } } },
    ],
  });
  client = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: keyOf('acme-prod'), maxRetries: 0 });
});
afterAll(() => stack.stop());

const messages = [{ role: 'user' as const, content: 'What does a sluice do?' }];

describe('the openai package, unmodified', () => {
  it('reads a whole answer with its usage', async () => {
    const answer = await client.chat.completions.create({ model: 'sim-small', messages });
    expect(answer.choices[0]?.message.content?.length).toBeGreaterThan(10);
    expect(answer.usage?.completion_tokens).toBe(20);
  });

  it('reads a stream to its end, without the usage chunk that it did not ask for', async () => {
    const stream = await client.chat.completions.create({ model: 'sim-small', messages, stream: true });
    let text = '';
    let finish: string | null | undefined;
    for await (const chunk of stream) {
      expect(chunk.usage ?? null).toBeNull();
      text += chunk.choices[0]?.delta.content ?? '';
      finish = chunk.choices[0]?.finish_reason ?? finish;
    }
    expect(text.length).toBeGreaterThan(10);
    expect(finish).toBe('stop');
  });

  it('gets the usage chunk when it asks for it', async () => {
    const stream = await client.chat.completions.create({
      model: 'sim-small',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    let completion: number | undefined;
    for await (const chunk of stream) completion = chunk.usage?.completion_tokens ?? completion;
    expect(completion).toBe(20);
  });

  it('receives tool calls, whole and streamed', async () => {
    const tools = [
      {
        type: 'function' as const,
        function: { name: 'look_up', parameters: { type: 'object', properties: { q: { type: 'string' } } } },
      },
    ];
    const whole = await client.chat.completions.create({
      model: 'sim-small',
      messages,
      tools,
      tool_choice: 'required',
    });
    const call = whole.choices[0]?.message.tool_calls?.[0];
    expect(call?.type === 'function' && call.function.name).toBe('look_up');
    let args = '';
    for await (const chunk of await client.chat.completions.create({
      model: 'sim-small',
      messages,
      tools,
      tool_choice: 'required',
      stream: true,
    })) {
      args += chunk.choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? '';
    }
    expect(typeof JSON.parse(args)).toBe('object');
  });

  it('lists the models', async () => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toEqual(expect.arrayContaining(['sim-small', 'sim-medium', 'sim-large']));
  });

  it('throws its own error classes, with the field that is wrong', async () => {
    const wrongKey = new OpenAI({
      baseURL: `${stack.url}/v1`,
      apiKey: 'sk-sluice-unknown00000-000000000000000000000000',
      maxRetries: 0,
    });
    await expect(wrongKey.chat.completions.create({ model: 'sim-small', messages })).rejects.toBeInstanceOf(
      OpenAI.AuthenticationError,
    );
    await expect(client.chat.completions.create({ model: 'no-such-model', messages })).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
    await expect(client.chat.completions.create({ model: 'sim-small', messages: [] })).rejects.toMatchObject({
      status: 400,
      param: 'messages',
    });
  });

  it('gets through a throttle by obeying the waiting time that it was told', async () => {
    const patient = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: keyOf('tiny-prod'), maxRetries: 3 });
    const impatient = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: keyOf('tiny-prod'), maxRetries: 0 });
    await patient.chat.completions.create({ model: 'sim-small', messages });
    await expect(impatient.chat.completions.create({ model: 'sim-small', messages })).rejects.toBeInstanceOf(
      OpenAI.RateLimitError,
    );
    const answer = await patient.chat.completions.create({ model: 'sim-small', messages });
    expect(answer.choices).toHaveLength(1);
  });

  it('aborts a stream, and the provider hears it at once', async () => {
    const before = await stack.stats('primary');
    const controller = new AbortController();
    const stream = await client.chat.completions.create(
      { model: 'sim-small', messages, stream: true, ...({ sim: { output_tokens: 2000, chunk_ms: 20 } } as object) },
      { signal: controller.signal },
    );
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content) break;
    }
    controller.abort();
    await eventually(async () => expect((await stack.stats('primary')).cancelled).toBe(before.cancelled + 1));
    const after = await stack.stats('primary');
    expect(after.cancelled).toBe(before.cancelled + 1);
    expect(after.in_flight).toBe(0);
  });
});
