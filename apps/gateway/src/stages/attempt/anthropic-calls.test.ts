import { startGateway, type GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { SAMPLE_KEYS, type RawSnapshot } from '../../testing/sample-snapshot.ts';
import { scripts, startScriptedUpstream, type Script, type ScriptedUpstream } from '../../testing/scripted-upstream.ts';

const event = (type: string, rest: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
const STREAM = [
  event('message_start', {
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      usage: { input_tokens: 3, output_tokens: 1 },
      a_field_of_tomorrow: [1],
    },
  }),
  event('content_block_start', { index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } }),
  ': a comment\n\n',
  event('ping', {}),
  event('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } }),
  event('content_block_delta', { index: 0, delta: { type: 'signature_delta', signature: 'Ab+/=' } }),
  event('an_event_of_tomorrow', { x: 1 }),
  event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 15 } }),
  event('message_stop', {}),
];
/** Odd white space, a float, an escaped letter, fields that nobody knows: what a parser and a writer would change. */
const BODY =
  '{ "model":"secondary/sim-small" ,"max_tokens":1.0e2, "messages":[{"role":"user","content":[{"type":"text","text":"caf\\u00e9","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"Ab+/="},{"type":"text","text":"ok"}]},{"role":"user","content":"go"}],"context_management":{"edits":[]},"zz_tomorrow":1e400 }';

let upstream: ScriptedUpstream;
let gateway: GatewayUnderTest;
afterEach(async () => {
  await gateway.close();
  await upstream.close();
});

/** One provider that speaks Anthropic's dialect (or OpenAI's) and the model under its own name. */
async function start(script: Script, dialect: 'anthropic' | 'openai' = 'anthropic'): Promise<void> {
  upstream = await startScriptedUpstream(script);
  const change = (raw: RawSnapshot): void => {
    Object.assign(raw.providers.secondary as object, {
      baseUrl: dialect === 'anthropic' ? upstream.url.replace('/v1', '') : upstream.url,
      dialect,
      enabled: true,
      credentials: [{ id: 'default', slots: 10, secret: { kind: 'env', name: 'SLUICE_SECRET_X' } }],
    });
    (raw.plans.team as { policy: { routing: object } }).policy.routing = { chain: [{ provider: 'secondary' }] };
  };
  gateway = await startGateway({ primary: upstream.url, second: upstream.url, change });
}

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}${path}`, {
    method: 'POST',
    body,
    headers: {
      'x-api-key': SAMPLE_KEYS.acme,
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      ...headers,
    },
  });

describe('an Anthropic call to an Anthropic provider', () => {
  it("arrives byte for byte but for the model's name, with its beta headers and query, without its key", async () => {
    await start(scripts.stream(...STREAM));
    const answer = await post('/v1/messages?beta=true', BODY.replace(' }', ',"stream":true}'), {
      'anthropic-beta': 'a-2025-01-01,b-2026-02-02',
      'x-sluice-tenant': 'forged',
    });
    expect(await answer.text()).toBe(STREAM.join(''));
    const [request] = upstream.requests;
    expect(request?.body).toBe(BODY.replace(' }', ',"stream":true}').replace('secondary/sim-small', 'sim-small'));
    const headers = new Map<string, string>(
      Array.from({ length: (request?.headers.length ?? 0) / 2 }, (_, i) => [
        String(request?.headers[i * 2]).toLowerCase(),
        String(request?.headers[i * 2 + 1]),
      ]),
    );
    expect(headers.get('anthropic-beta')).toBe('a-2025-01-01,b-2026-02-02');
    expect([headers.get('x-api-key'), headers.get('x-sluice-tenant')]).toEqual([
      'secret',
      '00000000-0000-4000-8000-000000000001',
    ]);
    expect(gateway.settled[0]).toMatchObject({
      outcome: 'ok',
      usage: { input: 3, output: 15 },
      usage_source: 'provider',
    });
  });

  it("gets the provider's error body unmodified", async () => {
    const words =
      '{"type":"error", "error":{"type":"invalid_request_error","message":"thinking: no","extra":[1.0]},"request_id":"req_theirs"}';
    await start(scripts.status(400, words));
    const answer = await post('/v1/messages', BODY);
    expect([answer.status, await answer.text()]).toEqual([400, words]);
  });
});

describe('a count of tokens', () => {
  const count = async () =>
    post(
      '/v1/messages/count_tokens',
      '{"model":"sim-small","messages":[{"role":"user","content":"How many tokens are these words, then?"}]}',
    );

  it("is the provider's own where it can count", async () => {
    await start(scripts.status(200, '{"input_tokens":2095}'));
    const answer = await count();
    expect([
      await answer.text(),
      answer.headers.get('x-sluice-token-count'),
      answer.headers.get('x-sluice-provider'),
    ]).toEqual(['{"input_tokens":2095}', null, 'secondary']);
  });

  it.each<[string, Script, 'anthropic' | 'openai']>([
    ['no provider of the chain can count', scripts.whole, 'openai'],
    ['the one that can is down', scripts.reset, 'anthropic'],
    [
      'its route is not there',
      scripts.status(404, '{"type":"error","error":{"type":"not_found_error","message":"no"}}'),
      'anthropic',
    ],
    [
      'its route takes no such call',
      scripts.status(405, '<html>405</html>', { 'content-type': 'text/html' }),
      'anthropic',
    ],
  ])(
    'is an estimate that says so where %s; it costs nothing, is recorded, and counts for the rate',
    async (_why, script, dialect) => {
      await start(script, dialect);
      const answer = await count();
      expect([
        answer.status,
        answer.headers.get('x-sluice-token-count'),
        answer.headers.get('x-sluice-provider'),
      ]).toEqual([200, 'estimate', 'sluice']);
      expect(((await answer.json()) as { input_tokens: number }).input_tokens).toBeGreaterThan(10);
      expect(gateway.settled).toMatchObject([
        {
          operation: 'count_tokens',
          outcome: 'ok',
          billed_nanousd: 0,
          cost_nanousd: 0,
          usage: { input: 0, output: 0 },
        },
      ]);
      expect(gateway.settlements).toMatchObject([{ kind: 'used', costNanoUsd: 0 }]);
      expect(gateway.slotsInUse()).toBe(0);
    },
  );

  it('is estimated where lists stand as deep in one another as a body may have them', async () => {
    await start(scripts.whole, 'openai');
    const deep = `${'['.repeat(190)}${']'.repeat(190)}`;
    expect(
      (await post('/v1/messages/count_tokens', `{"model":"sim-small","messages":[{"role":"user","content":${deep}}]}`))
        .status,
    ).toBe(200);
  });

  it("is refused in the provider's words when the request is wrong", async () => {
    await start(scripts.status(400, '{"type":"error","error":{"type":"invalid_request_error","message":"no"}}'));
    expect((await count()).status).toBe(400);
  });
});
