import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { keyOf } from './fixture-snapshot.ts';
import { type GatewayStack, startGatewayStack } from './gateway-stack.ts';
import { anthropicClient, openaiClient, type Question, type SdkClient } from './sdk-client.ts';

let stack: GatewayStack;
let clients: Record<string, SdkClient>;
const key = keyOf('acme-prod');

beforeAll(async () => {
  stack = await startGatewayStack({
    workspaces: [
      { tenant: 'acme', slug: 'acme-prod' },
      { tenant: 'claude', slug: 'claude-prod', policy: { routing: { chain: [{ provider: 'secondary' }] } as never } },
      { tenant: 'gpt', slug: 'gpt-prod', policy: { routing: { chain: [{ provider: 'primary' }] } as never } },
    ],
  });
  clients = { openai: openaiClient(stack.url, key), '@anthropic-ai/sdk': anthropicClient(stack.url, key) };
});
afterEach(() => stack.clearFault('primary'));
afterAll(() => stack.stop());

const COMBINATIONS = ['openai', '@anthropic-ai/sdk'].flatMap((sdk) =>
  ['primary', 'secondary'].flatMap((provider) =>
    [true, false].map((stream) => ({ sdk, provider, stream, how: stream ? 'streamed' : 'whole' })),
  ),
);
const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city', 'days'],
  additionalProperties: false,
};
const tools = [
  { name: 'weather', schema },
  { name: 'clock', schema },
];
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The suite that both SDKs pass against both kinds of provider, streamed and whole. */
describe.each(COMBINATIONS)('$sdk against $provider, $how', ({ sdk, provider, stream }) => {
  const ask = (question: Omit<Question, 'model'>) =>
    (clients[sdk] as SdkClient).ask({
      model: `${provider}/sim-small`,
      stream,
      ...question,
      sim: { ttft_ms: 0, chunk_ms: 0, ...question.sim },
    });

  it('gives the text with its usage, and in a stream piece by piece', async () => {
    const reply = await ask({
      system: 'Be brief.',
      turns: [{ user: 'What does a sluice do?' }, { assistant: 'It holds water.' }, { user: 'And then?' }],
      sim: { cached_tokens: 4 },
      stop: 'NEVER',
      user: 'ann',
    });
    expect(reply.text.split(' ')).toHaveLength(20);
    expect(reply).toMatchObject({ stop: 'end', calls: [], usage: { input: 14, cached: 4, output: 20 } });
    if (stream) expect(reply.pieces).toBeGreaterThan(20);
  });

  it('says that the bound ended it', async () => {
    expect(await ask({ turns: [{ user: 'Hi' }], maxTokens: 3 })).toMatchObject({
      stop: 'length',
      usage: { output: 3 },
    });
  });

  it('takes images by value and by URL', async () => {
    for (const image of [PIXEL, 'https://example.com/a.png'])
      expect((await ask({ turns: [{ user: 'What is this?', image }] })).stop).toBe('end');
  });

  it('calls one tool, several, the one that is named, or none', async () => {
    const names = async (question: Partial<Question>) =>
      (await ask({ turns: [{ user: 'Use your tools' }], tools, ...question })).calls.map(
        (call) => `${call.name} ${typeof call.input.city}`,
      );
    expect(await names({})).toEqual(['weather string', 'clock string']);
    expect(await names({ oneAtATime: true })).toEqual(['weather string']);
    expect(await names({ choice: 'any', turns: [{ user: 'Hello' }] })).toEqual(['weather string']);
    expect(await names({ choice: { name: 'clock' } })).toEqual(['clock string']);
    expect(await names({ choice: 'none' })).toEqual([]);
  });

  it('goes through a loop of tools: the ids of the calls come back with their results', async () => {
    const first = await ask({ turns: [{ user: 'Use your tools' }], tools });
    expect(first.stop).toBe('tool');
    const results = first.calls.map(({ id }, i) => ({ id, content: `result ${i}`, failed: i === 1 }));
    const second = await ask({
      turns: [{ user: 'Use your tools' }, { assistant: '', calls: first.calls }, { results }],
      tools,
    });
    expect(second).toMatchObject({ stop: 'end', calls: [] });
  });

  it('answers with JSON of a schema', async () => {
    const reply = await ask({ turns: [{ user: 'Where?' }], jsonSchema: schema });
    expect(JSON.parse(reply.text)).toEqual({ city: expect.any(String), days: expect.any(Number) });
  });

  it("gives the provider's own words about a wrong request, in its own class of error", async () => {
    const wrong = await ask({
      turns: [{ user: 'Hi' }, { assistant: '', calls: [] }, { results: [{ id: 'call_unknown', content: 'x' }] }],
    }).catch((error: unknown) => error);
    expect(wrong).toBeInstanceOf(sdk === 'openai' ? OpenAI.BadRequestError : Anthropic.BadRequestError);
    expect(String((wrong as Error).message)).toContain('call_unknown');
  });

  it('is metered as the provider counts', async () => {
    const before = await stack.stats(provider);
    const reply = await ask({ turns: [{ user: 'Count this, please.' }], sim: { cached_tokens: 2, output_tokens: 9 } });
    const after = await stack.stats(provider);
    expect({
      input: after.tokens.input - before.tokens.input,
      cached: after.tokens.cache_read - before.tokens.cache_read,
      output: after.tokens.output - before.tokens.output,
    }).toEqual({
      input: reply.usage.input - reply.usage.cached,
      cached: 2,
      output: 9,
    });
  });
});

describe('a failover between dialects', () => {
  it.each(COMBINATIONS.filter(({ provider }) => provider === 'primary'))(
    'with primary down, secondary answers $sdk, $how',
    async ({ sdk, stream }) => {
      await stack.fault('primary', { kind: 'down' });
      const before = await stack.stats('secondary');
      const reply = await (clients[sdk] as SdkClient).ask({
        model: 'sim-small',
        stream,
        turns: [{ user: 'Use your tools' }],
        tools,
      });
      expect(reply.calls.map((call) => call.name)).toEqual(['weather', 'clock']);
      expect((await stack.stats('secondary')).completed).toBe(before.completed + 1);
      if (!stream)
        expect([reply.headers.get('x-sluice-provider'), reply.headers.get('x-sluice-fallback')]).toEqual([
          'secondary',
          'true',
        ]);
    },
  );

  it('an entry that cannot carry the request is passed over, and the call succeeds at the next', async () => {
    await stack.fault('primary', { kind: 'down' });
    const client = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: key, maxRetries: 0 });
    const { data, response } = await client.chat.completions
      .create({ model: 'sim-small', messages: [{ role: 'user', content: 'Hi' }], n: 2 })
      .withResponse();
    expect(data.choices).toHaveLength(2);
    expect(response.headers.get('x-sluice-provider')).toBe('tertiary');
  });
});

describe('what cannot be carried', () => {
  it("is a 400 that names the field, in the caller's own shape, when no provider of the chain can take it", async () => {
    const openai = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: keyOf('claude-prod'), maxRetries: 0 });
    await expect(
      openai.chat.completions.create({ model: 'sim-small', messages: [{ role: 'user', content: 'Hi' }], n: 2 }),
    ).rejects.toMatchObject({ status: 400, code: 'unsupported_field', param: 'n' });
    const anthropic = new Anthropic({ baseURL: stack.url, apiKey: keyOf('gpt-prod'), maxRetries: 0 });
    await expect(
      anthropic.messages.create({
        model: 'sim-small',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'Hi' }],
        ...({ top_k: 5 } as object),
      }),
    ).rejects.toMatchObject({
      status: 400,
      error: { type: 'error', error: { type: 'invalid_request_error', message: expect.stringContaining("'top_k'") } },
    });
  });
});
