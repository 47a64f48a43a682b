import Anthropic from '@anthropic-ai/sdk';
import { keyOf } from './fixture-snapshot.ts';
import { type GatewayStack, startGatewayStack } from './gateway-stack.ts';

let stack: GatewayStack;
beforeAll(async () => {
  stack = await startGatewayStack({
    workspaces: [
      { tenant: 'acme', slug: 'acme-prod' },
      {
        tenant: 'agent',
        slug: 'agent-prod',
        policy: { routing: { chain: [{ provider: 'secondary' }, { provider: 'primary' }] } as never },
      },
      { tenant: 'gpt', slug: 'gpt-prod', policy: { routing: { chain: [{ provider: 'primary' }] } as never } },
    ],
  });
});
afterAll(() => stack.stop());

const tools: Anthropic.Tool[] = [
  {
    name: 'read_file',
    description: 'Reads a file',
    input_schema: { type: 'object', properties: { path: { type: 'string' } } },
  },
  {
    name: 'run',
    description: 'Runs a command',
    input_schema: { type: 'object', properties: { command: { type: 'string' } } },
    cache_control: { type: 'ephemeral' },
  },
];
const system: Anthropic.TextBlockParam[] = [
  { type: 'text', text: 'You are a careful engineer.', cache_control: { type: 'ephemeral' } },
];

/** What a coding agent does, in its order, over the beta routes of its SDK. */
async function work(client: Anthropic, thinking: boolean) {
  const startedAt = performance.now();
  const models = [];
  for await (const model of client.models.list({ limit: 2 })) models.push(model.id);
  const listedInMs = performance.now() - startedAt;
  const one = await client.models.retrieve('sim-small');
  const turns: Anthropic.Beta.BetaMessageParam[] = [
    {
      role: 'user',
      content: [{ type: 'text', text: 'Fix the bug; use your tools.', cache_control: { type: 'ephemeral' } }],
    },
  ];
  const base = {
    model: 'sim-small',
    max_tokens: 4_000,
    system,
    tools,
    betas: ['interleaved-thinking-2025-05-14'],
    ...(thinking ? { thinking: { type: 'enabled' as const, budget_tokens: 1_024 } } : {}),
    ...({ sim: { ttft_ms: 0, chunk_ms: 0 } } as object),
  };
  const counted = await client.beta.messages
    .countTokens({ model: base.model, system, tools, messages: turns })
    .withResponse();
  const replies: Anthropic.Beta.BetaMessage[] = [];
  for (let step = 0; step < 3; step += 1) {
    const reply = await client.beta.messages.stream({ ...base, messages: turns }).finalMessage();
    replies.push(reply);
    turns.push({ role: 'assistant', content: reply.content });
    const results = reply.content.flatMap((block) =>
      block.type === 'tool_use'
        ? [
            {
              type: 'tool_result' as const,
              tool_use_id: block.id,
              content: [{ type: 'text' as const, text: 'done' }],
              is_error: block.name === 'run',
            },
          ]
        : [],
    );
    if (results.length === 0) break;
    turns.push({ role: 'user', content: results });
  }
  return { models, listedInMs, one, counted, replies };
}

describe('a coding agent', () => {
  it('lists models, counts tokens and goes through a streamed loop of tools with signed thoughts', async () => {
    const before = await stack.stats('secondary');
    const { models, listedInMs, one, counted, replies } = await work(
      new Anthropic({ baseURL: stack.url, apiKey: keyOf('agent-prod'), maxRetries: 0 }),
      true,
    );
    expect(models).toEqual(['sim-large', 'sim-medium', 'sim-small', 'auto']);
    expect(listedInMs).toBeLessThan(10_000);
    expect(one).toMatchObject({ type: 'model', id: 'sim-small' });
    expect(counted.data.input_tokens).toBeGreaterThan(0);
    expect(counted.response.headers.get('x-sluice-token-count')).toBeNull();
    expect(replies.map((reply) => reply.content.map((block) => block.type))).toEqual([
      ['thinking', 'tool_use', 'tool_use'],
      ['thinking', 'text'],
    ]);
    // The provider takes back only the thoughts that it signed: the second step proves that they came through
    // untouched.
    expect((await stack.stats('secondary')).completed).toBe(before.completed + 2);
    // Signed thoughts cost a conversation no provider: one of the other dialect takes it without them.
    const signed = { role: 'assistant' as const, content: replies[1]?.content ?? [] };
    const client = new Anthropic({ baseURL: stack.url, apiKey: keyOf('acme-prod'), maxRetries: 0 });
    const { response } = await client.beta.messages
      .create({
        model: 'sim-small',
        max_tokens: 50,
        messages: [{ role: 'user', content: 'Hi' }, signed, { role: 'user', content: 'Go on' }],
      })
      .withResponse();
    expect([response.headers.get('x-sluice-provider'), response.headers.get('x-sluice-fallback')]).toEqual([
      'primary',
      null,
    ]);
  });

  it('works with a bearer token, and against providers of the other dialect, where counts are estimates that say so', async () => {
    const { counted, replies } = await work(
      new Anthropic({ baseURL: stack.url, apiKey: null, authToken: keyOf('gpt-prod'), maxRetries: 0 }),
      false,
    );
    expect(counted.response.headers.get('x-sluice-token-count')).toBe('estimate');
    expect(replies.map((reply) => reply.stop_reason)).toEqual(['tool_use', 'end_turn']);
  });

  it('is never left in silence by a provider that thinks for long: the head comes within the hold, then signs of life in its dialect until the first content', async () => {
    const wait = async (path: string, key: string, sign: string, content: string) => {
      const startedAt = performance.now();
      const response = await fetch(`${stack.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'sim-small',
          max_tokens: 50,
          stream: true,
          messages: [{ role: 'user', content: 'Think.' }],
          sim: { ttft_ms: 32_000, chunk_ms: 0, output_tokens: 3 },
        }),
      });
      const headMs = performance.now() - startedAt;
      const arrivals: number[] = [startedAt];
      let text = '';
      for await (const chunk of response.body ?? []) {
        arrivals.push(performance.now());
        text += new TextDecoder().decode(chunk);
      }
      const gaps = arrivals.slice(1).map((at, i) => at - (arrivals[i] ?? at));
      return {
        status: response.status,
        headMs,
        signs: text.split(sign).length - 1,
        signsFirst: text.indexOf(sign) >= 0 && text.indexOf(sign) < text.indexOf(content),
        longestGapMs: Math.max(...gaps),
        text,
      };
    };
    const [anthropic, openai] = await Promise.all([
      wait('/v1/messages?beta=true', keyOf('agent-prod'), 'event: ping', 'content_block_delta'),
      wait('/v1/chat/completions', keyOf('gpt-prod'), '\n:', '"content"'),
    ]);
    for (const { status, headMs, longestGapMs } of [anthropic, openai]) {
      expect(status).toBe(200);
      expect(headMs).toBeLessThan(25_000);
      expect(longestGapMs).toBeLessThan(28_000);
    }
    expect(anthropic).toMatchObject({ signsFirst: true });
    expect(anthropic.signs).toBeGreaterThanOrEqual(2);
    expect(anthropic.text).toContain('message_stop');
    expect(openai.text).toMatch(/^:|\n:/);
    expect(openai.text).toContain('[DONE]');
  }, 90_000);

  it('finds the models without a redirect, whatever asks', async () => {
    for (const [path, headers] of [
      ['/v1/models', { 'x-api-key': keyOf('acme-prod') }],
      ['/v1/models/sim-small', { authorization: `Bearer ${keyOf('acme-prod')}` }],
    ] as const) {
      expect((await fetch(`${stack.url}${path}`, { headers, redirect: 'error' })).status).toBe(200);
    }
  });
});
