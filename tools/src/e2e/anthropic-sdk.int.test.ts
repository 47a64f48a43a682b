import Anthropic from '@anthropic-ai/sdk';
import { eventually } from '@sluice/testing';
import { keyOf } from './fixture-snapshot.ts';
import { type GatewayStack, startGatewayStack } from './gateway-stack.ts';

let stack: GatewayStack;
let client: Anthropic;

beforeAll(async () => {
  stack = await startGatewayStack({
    workspaces: [
      { tenant: 'acme', slug: 'acme-prod' },
      { tenant: 'tiny', slug: 'tiny-prod', tenantLimits: { requests: { perMinute: 20, burst: 1 } } },
    ],
  });
  client = new Anthropic({ baseURL: stack.url, apiKey: keyOf('acme-prod'), maxRetries: 0 });
});
afterAll(() => stack.stop());

const body = {
  model: 'sim-small',
  max_tokens: 200,
  messages: [{ role: 'user' as const, content: 'What does a sluice do?' }],
};

describe('@anthropic-ai/sdk, unmodified', () => {
  it('reads a whole message with its usage', async () => {
    const message = await client.messages.create(body);
    expect(message.content[0]?.type).toBe('text');
    expect(message.usage.output_tokens).toBe(20);
    expect(message.stop_reason).toBe('end_turn');
  });

  it('reads a stream to its end', async () => {
    const stream = client.messages.stream(body);
    let deltas = 0;
    stream.on('text', () => (deltas += 1));
    const final = await stream.finalMessage();
    expect(deltas).toBeGreaterThan(5);
    expect(final.usage.output_tokens).toBe(20);
  });

  it('receives tool use, whole and streamed', async () => {
    const tools = [
      { name: 'look_up', input_schema: { type: 'object' as const, properties: { q: { type: 'string' } } } },
    ];
    const whole = await client.messages.create({ ...body, tools, tool_choice: { type: 'any' } });
    expect(whole.content.some((block) => block.type === 'tool_use' && block.name === 'look_up')).toBe(true);
    const streamed = await client.messages.stream({ ...body, tools, tool_choice: { type: 'any' } }).finalMessage();
    expect(streamed.content.some((block) => block.type === 'tool_use' && typeof block.input === 'object')).toBe(true);
  });

  it('counts tokens without generating any', async () => {
    const counted = await client.messages.countTokens({ model: 'sim-small', messages: body.messages });
    expect(counted.input_tokens).toBeGreaterThan(0);
  });

  it('throws its own error classes in its own shape', async () => {
    const wrongKey = new Anthropic({ baseURL: stack.url, apiKey: 'nonsense', maxRetries: 0 });
    await expect(wrongKey.messages.create(body)).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
    await expect(client.messages.create({ ...body, model: 'no-such-model' })).rejects.toBeInstanceOf(
      Anthropic.NotFoundError,
    );
    await expect(client.messages.create({ ...body, messages: [] })).rejects.toMatchObject({
      status: 400,
      error: { type: 'error', error: { type: 'invalid_request_error' } },
    });
  });

  it('gets through a throttle by obeying the waiting time that it was told', async () => {
    const patient = new Anthropic({ baseURL: stack.url, apiKey: keyOf('tiny-prod'), maxRetries: 3 });
    await patient.messages.create(body);
    await expect(patient.messages.create(body, { maxRetries: 0 })).rejects.toBeInstanceOf(Anthropic.RateLimitError);
    expect((await patient.messages.create(body)).content).toHaveLength(1);
  });

  it('aborts a stream, and the provider hears it at once', async () => {
    const before = await stack.stats('primary');
    const stream = client.messages.stream({
      ...body,
      max_tokens: 5000,
      ...({ sim: { output_tokens: 2000, chunk_ms: 20 } } as object),
    });
    stream.on('text', () => stream.abort());
    await expect(stream.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIUserAbortError);
    await eventually(async () => expect((await stack.stats('primary')).cancelled).toBe(before.cancelled + 1));
  });
});
