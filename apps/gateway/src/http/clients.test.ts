import { startFrontServer, type FrontServer } from '../testing/front-server.ts';
import { startGateway } from '../testing/gateway-under-test.ts';
import { SAMPLE_KEYS } from '../testing/sample-snapshot.ts';
import { scripts, startScriptedUpstream } from '../testing/scripted-upstream.ts';
import { rightPathFor } from './right-path.ts';

let front: FrontServer;
beforeAll(async () => {
  front = await startFrontServer();
});
afterAll(() => front.close());

const KEY = { authorization: `Bearer ${SAMPLE_KEYS.acme}` };

async function ask(path: string, headers: Record<string, string> = KEY, method = 'GET') {
  const response = await fetch(front.url + path, { method, headers });
  return { status: response.status, text: await response.text() };
}

describe('two credentials in one request', () => {
  it.each([
    ['that differ', { authorization: `Bearer ${SAMPLE_KEYS.acme}`, 'x-api-key': SAMPLE_KEYS.globex }],
    ['of which one is no key', { authorization: `Bearer ${SAMPLE_KEYS.acme}`, 'x-api-key': 'sk-ant-other' }],
    ['of which one is not a bearer', { authorization: 'Basic eDp5', 'x-api-key': SAMPLE_KEYS.acme }],
  ])('%s are refused, and the refusal says what to change', async (_what, headers) => {
    for (const path of ['/v1/models', '/v1/chat/completions']) {
      const { status, text } = await ask(path, headers, path === '/v1/models' ? 'GET' : 'POST');
      expect(status).toBe(401);
      expect(text).toMatch(/Two different credentials.*remove the other/);
      expect(text).not.toContain('sk-');
    }
  });

  it('that are the same are one', async () => {
    expect((await ask('/v1/models', { ...KEY, 'x-api-key': SAMPLE_KEYS.acme })).status).toBe(200);
  });
});

describe('a base URL that is almost right', () => {
  it.each([
    ['/chat/completions', 'POST /v1/chat/completions', 'end in /v1'],
    ['/v1/v1/chat/completions', 'POST /v1/chat/completions', 'end in one /v1'],
    ['/v1/chat/completions/', 'POST /v1/chat/completions', 'slash'],
    ['/v1//embeddings', 'POST /v1/embeddings', 'slash'],
    ['/v1/v1/messages', 'POST /v1/messages', 'without /v1'],
    ['/v1/v1/messages/count_tokens', 'POST /v1/messages/count_tokens', 'without /v1'],
    ['/messages', 'POST /v1/messages', 'without /v1'],
    ['/models', 'GET /v1/models', 'end in /v1'],
  ])('%s is a 404 that names %s', async (path, right, change) => {
    const { status, text } = await ask(path, KEY, 'POST');
    expect(status).toBe(404);
    expect(text).toContain(right);
    expect(text).toContain(change);
  });

  it.each(['/v1/nothing', '/', '/v1', '/v1/audio/speech', '/constructor', '/v1/chat/completions'])(
    'is not what %s means',
    (path) => {
      expect(rightPathFor(path)).toBeUndefined();
    },
  );
});

describe('lists for clients', () => {
  it('have release dates, context, output and price of each model, and auto last', async () => {
    const { data } = JSON.parse((await ask('/v1/models')).text) as { data: Record<string, unknown>[] };
    expect(data.at(-1)).toMatchObject({ id: 'auto', pricing: null });
    const small = data.find(({ id }) => id === 'sim-small');
    expect(small).toMatchObject({
      created: expect.any(Number),
      context_length: expect.any(Number),
      max_output_tokens: expect.any(Number),
      pricing: { unit: 'usd_per_million_tokens', input: expect.stringMatching(/^\d+(\.\d+)?$/) },
    });
    expect(small?.['created']).toBeGreaterThan(1_000_000_000);
    const anthropic = JSON.parse((await ask('/v1/models', { ...KEY, 'anthropic-version': '2023-06-01' })).text) as {
      data: Record<string, unknown>[];
    };
    expect(anthropic.data.map(({ id }) => id)).toEqual(data.map(({ id }) => id));
    expect(Date.parse(String(anthropic.data[0]?.['created_at']))).toBeGreaterThan(1e12);
  });

  it('say what a key may do and what is left of it', async () => {
    const info = JSON.parse((await ask('/v1/key/info')).text) as Record<string, unknown>;
    expect(info).toMatchObject({
      object: 'key',
      key_id: SAMPLE_KEYS.acme.split('-')[2],
      name: expect.any(String),
      expires_at: null,
      requests: { limit: 100, remaining: 99 },
      quotas: [],
    });
    expect(JSON.stringify(info)).not.toContain('digest');
    expect((await ask('/v1/key/info', {})).status).toBe(401);
    expect((await ask('/v1/key/info', KEY, 'POST')).status).toBe(405);
  });
});

it('a whole answer says what it costs in dollars too', async () => {
  const upstream = await startScriptedUpstream(scripts.whole);
  const gateway = await startGateway({ primary: upstream.url });
  try {
    const { headers } = await gateway.chat();
    expect([headers.get('x-sluice-cost-nanousd'), headers.get('x-sluice-cost-usd')]).toEqual(['19000', '0.000019']);
  } finally {
    await gateway.close();
    await upstream.close();
  }
});
