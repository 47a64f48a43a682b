import { eventually } from '@sluice/testing';
import { chat } from './chat.ts';
import { keyOf } from './fixture-snapshot.ts';
import { type GatewayStack, startGatewayStack } from './gateway-stack.ts';

const monthly = (limit: number) => ({
  quotas: [
    {
      id: 'monthly',
      meter: 'total_tokens' as const,
      limit,
      mode: 'hard' as const,
      span: { kind: 'calendar' as const, period: 'month' as const },
      alertAtPercent: [80, 100],
    },
  ],
});

let stack: GatewayStack;
beforeAll(async () => {
  stack = await startGatewayStack({
    workspaces: [
      { tenant: 'poor', slug: 'poor-prod', tenantLimits: monthly(400) },
      { tenant: 'rich', slug: 'rich-prod' },
    ],
  });
});
afterAll(() => stack.stop());

describe('a gateway alone: control plane, spine, database and router are down', () => {
  it('serves from its snapshot on disk', async () => {
    expect((await chat(stack.url, { key: keyOf('rich-prod') })).status).toBe(200);
  });

  it('an exhausted hard quota is still exhausted after a kill', async () => {
    let status = 200;
    for (let i = 0; i < 60 && status === 200; i += 1)
      status = (await chat(stack.url, { key: keyOf('poor-prod'), body: { max_tokens: 20 } })).status;
    expect(status).toBe(402);
    await stack.restartGateway('SIGKILL');
    const refused = await chat(stack.url, { key: keyOf('poor-prod'), body: { max_tokens: 20 } });
    expect(refused.status).toBe(402);
    expect(refused.headers.get('x-sluice-refusal')).toBe('quota');
    expect(JSON.parse(refused.text).error.message).toMatch(/quota 'monthly'/);
    expect((await chat(stack.url, { key: keyOf('rich-prod') })).status).toBe(200);
  });

  it('SIGTERM lets a running stream finish', async () => {
    const streaming = chat(stack.url, {
      key: keyOf('rich-prod'),
      stream: true,
      sim: { output_tokens: 100, chunk_ms: 10 },
    });
    await eventually(async () => expect((await stack.stats('primary')).in_flight).toBe(1));
    await stack.restartGateway('SIGTERM');
    expect((await streaming).text).toContain('[DONE]');
  });
});
