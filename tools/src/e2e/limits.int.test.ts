import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { keyOf } from './fixture-snapshot.ts';
import { type GatewayStack, startGatewayStack } from './gateway-stack.ts';

let stack: GatewayStack;
/** Sixteen of 24 calls at once are refused, and have two more tries each. */
const CROWD = { requests: { perSecond: 4, burst: 8 } };
const BURST = { requests: { perSecond: 4, burst: 1 } };
const hard = (meter: 'output_tokens', limit: number) => ({
  id: 'month',
  meter,
  span: { kind: 'rolling' as const, seconds: 30 * 86_400, steps: 12 },
  limit,
  mode: 'hard' as const,
  alertAtPercent: [80],
});
/** One call of 20 tokens fits, a second does not. */
const broke = (status: 402 | 429) => ({
  tenantLimits: { quotas: [hard('output_tokens', 30)] },
  policy: { quotaStatus: status, defaultOutputTokens: 20 },
});

beforeAll(async () => {
  stack = await startGatewayStack({
    workspaces: [
      {
        tenant: 'open',
        slug: 'open-prod',
        tenantLimits: { requests: { perSecond: 1_000, burst: 1_000 }, tokens: { perMinute: 1_000_000 } },
      },
      { tenant: 'crowd', slug: 'crowd-prod', tenantLimits: CROWD },
      { tenant: 'throng', slug: 'throng-prod', tenantLimits: CROWD },
      { tenant: 'slow', slug: 'slow-prod', tenantLimits: BURST },
      { tenant: 'calm', slug: 'calm-prod', tenantLimits: BURST },
      {
        tenant: 'last',
        slug: 'last-prod',
        tenantLimits: { quotas: [hard('output_tokens', 10_000)] },
        policy: { defaultOutputTokens: 100 },
      },
      { tenant: 'broke', slug: 'broke-prod', ...broke(402) },
      { tenant: 'poor', slug: 'poor-prod', ...broke(429) },
    ],
  });
});
afterAll(() => stack.stop());

const openai = (slug: string, maxRetries: number) =>
  new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: keyOf(slug), maxRetries });
const anthropic = (slug: string, maxRetries: number) =>
  new Anthropic({ baseURL: stack.url, apiKey: keyOf(slug), maxRetries });
const messages = [{ role: 'user' as const, content: 'Hello' }];

describe('the rate headers', () => {
  const chat = (body: object) => ({
    path: '/v1/chat/completions',
    body: JSON.stringify({ model: 'sim-small', messages, ...body }),
  });
  const message = (body: object) => ({
    path: '/v1/messages',
    body: JSON.stringify({ model: 'sim-small', max_tokens: 50, messages, ...body }),
  });
  const OPENAI = [
    'x-ratelimit-limit-requests',
    'x-ratelimit-remaining-requests',
    'x-ratelimit-reset-requests',
    'x-ratelimit-limit-tokens',
    'x-ratelimit-remaining-tokens',
    'x-ratelimit-reset-tokens',
  ];
  const ANTHROPIC = ['requests', 'tokens', 'input-tokens', 'output-tokens'].flatMap((unit) =>
    ['limit', 'remaining', 'reset'].map((what) => `anthropic-ratelimit-${unit}-${what}`),
  );

  it.each([
    ['a whole answer', 200, chat({})],
    ['a stream', 200, chat({ stream: true })],
    ['a body that is no JSON', 400, { path: '/v1/chat/completions', body: '{' }],
    ['a model that does not exist', 404, chat({ model: 'no-such-model' })],
    ['the list of models', 200, { path: '/v1/models' }],
    ['its own usage', 200, { path: '/v1/usage' }],
    ['a route that is not offered', 404, { path: '/v1/nothing' }],
    ['a whole message', 200, message({})],
    ['a streamed message', 200, message({ stream: true })],
    ['a message for no model', 404, message({ model: 'no-such-model' })],
  ])('are on %s', async (_what, status, { path, body }: { path: string; body?: string }) => {
    const answer = await fetch(`${stack.url}${path}`, {
      headers: { authorization: `Bearer ${keyOf('open-prod')}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
    await answer.text();
    expect(answer.status).toBe(status);
    const names = [...OPENAI, ...(path === '/v1/messages' ? ANTHROPIC : [])];
    expect(names.filter((name) => answer.headers.get(name) === null)).toEqual([]);
    expect(answer.headers.get('x-ratelimit-reset-tokens')).toMatch(/^(\d+h)?(\d+m)?[\d.]+m?s$/);
    if (path === '/v1/messages')
      expect(Date.parse(answer.headers.get('anthropic-ratelimit-requests-reset') ?? '')).toBeGreaterThan(
        Date.now() - 60_000,
      );
  });

  it('are not shown to a caller without a valid key', async () => {
    const answer = await fetch(`${stack.url}/v1/models`, {
      headers: { authorization: 'Bearer sk-sluice-wrong-wrong' },
    });
    expect(answer.status).toBe(401);
    expect([...answer.headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([]);
  });
});

describe('the retry loop of an unmodified SDK', () => {
  it('gets six OpenAI calls at once through a limit of four a second, by waiting as it is told', async () => {
    const startedMs = performance.now();
    const client = openai('slow-prod', 10);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => client.chat.completions.create({ model: 'sim-small', messages })),
    );
    expect(answers.every((answer) => answer.usage?.completion_tokens === 20)).toBe(true);
    // One at once and five more at four a second: not before 1.25 s.
    expect(performance.now() - startedMs).toBeGreaterThan(1_200);
  });

  it('gets 24 calls at once through with the retries that it makes by default, because each is told a moment of its own', async () => {
    const client = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: keyOf('crowd-prod') });
    const answers = await Promise.all(
      Array.from({ length: 24 }, () => client.chat.completions.create({ model: 'sim-small', messages })),
    );
    expect(answers).toHaveLength(24);
  });

  it('gets 24 Anthropic calls at once through in the same way', async () => {
    const client = new Anthropic({ baseURL: stack.url, apiKey: keyOf('throng-prod') });
    const answers = await Promise.all(
      Array.from({ length: 24 }, () => client.messages.create({ model: 'sim-small', max_tokens: 100, messages })),
    );
    expect(answers).toHaveLength(24);
  });

  it('gets six Anthropic calls through in the same way', async () => {
    const client = anthropic('calm-prod', 10);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => client.messages.create({ model: 'sim-small', max_tokens: 100, messages })),
    );
    expect(answers.every((answer) => answer.usage.output_tokens === 20)).toBe(true);
  });

  it.each([
    ['broke-prod', 402],
    ['poor-prod', 429],
  ] as const)('does not sleep until next month when the quota of %s is used up (%d)', async (slug, status) => {
    await openai(slug, 0).chat.completions.create({ model: 'sim-small', messages });
    const startedMs = performance.now();
    await expect(openai(slug, 5).chat.completions.create({ model: 'sim-small', messages })).rejects.toMatchObject({
      status,
    });
    await expect(
      anthropic(slug, 5).messages.create({ model: 'sim-small', max_tokens: 100, messages }),
    ).rejects.toMatchObject({ status });
    expect(performance.now() - startedMs).toBeLessThan(20_000);
    const answer = await fetch(`${stack.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keyOf(slug)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sim-small', messages }),
    });
    expect([answer.headers.get('x-should-retry'), Number(answer.headers.get('retry-after')) > 60]).toEqual([
      'false',
      true,
    ]);
  });
});

it('200 calls at once on the last 10,000 tokens of a quota let in exactly what fits, and all of it is used', async () => {
  const headers = { authorization: `Bearer ${keyOf('last-prod')}`, 'content-type': 'application/json' };
  const body = JSON.stringify({
    model: 'sim-small',
    messages,
    max_tokens: 100,
    sim: { output_tokens: 100, ttft_ms: 2_000 },
  });
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => fetch(`${stack.url}/v1/chat/completions`, { method: 'POST', headers, body })),
  );
  await Promise.all(answers.map((answer) => answer.text()));
  expect([200, 402].map((status) => answers.filter((answer) => answer.status === status).length)).toEqual([100, 100]);
  const usage = (await (await fetch(`${stack.url}/v1/usage`, { headers })).json()) as {
    quotas: { used: number; remaining: number }[];
  };
  expect(usage.quotas).toEqual([expect.objectContaining({ window: 'month', used: 10_000, remaining: 0 })]);
});
