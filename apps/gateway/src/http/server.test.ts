import { createMemoryLimitStore } from '@sluice/limits';
import { createFakeClock } from '@sluice/testing';
import { SAMPLE_NOW_MS, startFrontServer, type FrontServer } from '../testing/front-server.ts';
import { SAMPLE_KEYS } from '../testing/sample-snapshot.ts';
import { request as send } from 'undici';

const KEY = { authorization: `Bearer ${SAMPLE_KEYS.acme}` };
const BODY = JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'x' }] });

let front: FrontServer;
afterEach(() => front.close());

async function ask(
  path: string,
  headers: Record<string, string> = KEY,
  init: { method?: 'GET' | 'POST' | 'OPTIONS' | 'DELETE'; body?: string } = {},
) {
  const {
    statusCode,
    headers: answered,
    body,
  } = await send(`${front.url}${path}`, {
    method: init.method ?? 'GET',
    headers,
    ...(init.body === undefined ? {} : { body: init.body }),
  });
  const text = await body.text();
  return {
    status: statusCode,
    headers: answered,
    json: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
  };
}

const chat = (headers: Record<string, string> = KEY) =>
  ask('/v1/chat/completions', headers, { method: 'POST', body: BODY });

it.each([
  ['acme-prod.sluice.localhost', 'acme', 200],
  ['ACME-prod.Sluice.localhost:8080', 'acme', 200],
  ['127.0.0.1:8080', 'acme', 200],
  ['globex-prod.sluice.localhost', 'acme', 401],
  ['nobody.sluice.localhost', 'acme', 421],
  ['127.0.0.1', 'elsewhere', 421],
] as const)('host %s with the key of %s is answered with %d', async (host, key, status) => {
  front = await startFrontServer();
  expect((await chat({ authorization: `Bearer ${SAMPLE_KEYS[key]}`, host })).status).toBe(status);
});

it('a stranger cannot tell which workspaces or routes exist', async () => {
  front = await startFrontServer();
  for (const host of ['acme-prod.sluice.localhost', 'nobody.sluice.localhost'])
    expect((await chat({ host })).status).toBe(401);
  for (const path of ['/v1/models', '/v1/nothing', '/admin', '/v1/models/sim-small'])
    expect((await ask(path, {})).status).toBe(401);
});

it('a key may not act elsewhere nor come from another network', async () => {
  front = await startFrontServer();
  expect((await chat({ ...KEY, 'x-sluice-act-workspace': 'globex-prod' })).headers['x-sluice-refusal']).toBe(
    'act_workspace_refused',
  );
  expect((await chat({ authorization: `Bearer ${SAMPLE_KEYS.fenced}` })).headers['x-sluice-refusal']).toBe(
    'address_not_allowed',
  );
});

it('models are listed in the dialect of the caller, without those that are retired', async () => {
  front = await startFrontServer();
  const openai = await ask('/v1/models');
  expect((openai.json.data as { id: string }[]).map((model) => model.id)).toEqual([
    'sim-small',
    'sim-large',
    'unpriced',
    'embedder',
    'auto',
  ]);
  const anthropic = await ask('/v1/models', { 'x-api-key': SAMPLE_KEYS.acme, 'anthropic-version': '2023-06-01' });
  expect(anthropic.json).toMatchObject({ has_more: false, first_id: 'sim-small' });
  expect((await ask('/v1/models/sim-small')).json).toMatchObject({ id: 'sim-small', object: 'model' });
  expect((await ask('/v1/models/sim-small', { 'x-api-key': SAMPLE_KEYS.acme })).json).toMatchObject({
    id: 'sim-small',
    type: 'model',
    display_name: 'sim-small',
  });
  expect((await ask('/v1/models/old-model')).status).toBe(404);
  expect((await ask('/v1/models/auto')).json).toMatchObject({ id: 'auto', object: 'model' });
  expect((await ask('/v1/models/auto', { 'x-api-key': SAMPLE_KEYS.acme })).json).toMatchObject({
    id: 'auto',
    type: 'model',
    max_input_tokens: 100_000,
  });
});

it("Anthropic's list of models is paged both ways, and a wrong page is refused", async () => {
  front = await startFrontServer();
  const page = async (query: string) => (await ask(`/v1/models?${query}`, { 'x-api-key': SAMPLE_KEYS.acme })).json;
  const ids = ({ data, has_more }: Record<string, unknown>) => [
    ...(data as { id: string }[]).map((model) => model.id),
    has_more,
  ];
  expect(ids(await page('limit=3'))).toEqual(['sim-small', 'sim-large', 'unpriced', true]);
  expect(ids(await page('limit=3&after_id=unpriced'))).toEqual(['embedder', 'auto', false]);
  expect(ids(await page('limit=2&before_id=embedder'))).toEqual(['sim-large', 'unpriced', true]);
  for (const query of ['limit=0', 'limit=x', 'limit=1001', 'after_id=nothing'])
    expect(await page(query)).toMatchObject({ error: { type: 'invalid_request_error' } });
});

it('a probe without a key is answered, and tells nothing', async () => {
  front = await startFrontServer();
  const response = await fetch(front.url, { method: 'HEAD' });
  expect([response.status, await response.text()]).toEqual([200, '']);
  expect((await fetch(`${front.url}/v1/messages`, { method: 'HEAD' })).headers.get('allow')).toBe('POST');
});

it('routes that are not offered say so in their dialect, and wrong methods are 405', async () => {
  front = await startFrontServer();
  const responses = await ask('/v1/responses', KEY, { method: 'POST', body: '{}' });
  expect([responses.status, JSON.stringify(responses.json)]).toEqual([
    404,
    expect.stringContaining('The Responses API is not offered by this gateway yet.'),
  ]);
  expect((await ask('/v1/files')).status).toBe(404);
  expect((await ask('/v1/nothing')).headers['x-sluice-refusal']).toBe('route_unknown');
  expect((await ask('/v1/models', KEY, { method: 'DELETE' })).status).toBe(405);
  expect((await ask('/health', {})).json).toEqual({ status: 'ok' });
  expect((await ask('/v1/usage')).json).toMatchObject({ workspace: 'acme-prod', requests: { limit: 100 } });
});

it('only origins on the list get CORS answers, with our headers exposed', async () => {
  front = await startFrontServer({ corsOrigins: ['https://app.example'] });
  const preflight = await ask(
    '/v1/chat/completions',
    { origin: 'https://app.example', 'access-control-request-headers': 'x-api-key' },
    { method: 'OPTIONS' },
  );
  expect([preflight.status, preflight.headers['access-control-allow-headers']]).toEqual([204, 'x-api-key']);
  expect((await chat({ ...KEY, origin: 'https://app.example' })).headers['access-control-expose-headers']).toContain(
    'x-sluice-refusal',
  );
  expect(
    (await chat({ ...KEY, origin: 'https://evil.example' })).headers['access-control-allow-origin'],
  ).toBeUndefined();
});

it('without a configuration calls are refused and may be sent again', async () => {
  front = await startFrontServer({ config: () => undefined });
  const { status, headers } = await chat();
  expect([status, headers['x-sluice-refusal'], headers['retry-after']]).toEqual([503, 'not_ready', '2']);
});

it("the caller's deadline ends its call with 504", async () => {
  front = await startFrontServer({
    attempt: (call) => new Promise((resolve) => void call.cancel.onCancel(() => resolve())),
  });
  const { status, headers } = await chat({ ...KEY, 'x-sluice-timeout-ms': '20' });
  expect([status, headers['x-sluice-refusal']]).toEqual([504, 'caller_deadline']);
});

it('a caller that hangs up cancels its call', async () => {
  const cancelled = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  front = await startFrontServer({
    attempt: (call) => {
      begun.resolve();
      return new Promise((resolve) => void call.cancel.onCancel((reason) => (cancelled.resolve(reason), resolve())));
    },
  });
  const abort = new AbortController();
  const asked = send(`${front.url}/v1/chat/completions`, {
    method: 'POST',
    headers: KEY,
    body: BODY,
    signal: abort.signal,
  }).catch(() => undefined);
  await begun.promise;
  abort.abort();
  expect(await cancelled.promise).toBe('client_closed');
  await asked;
});

it('a call on a new connection while it drains is told so instead of being reset', async () => {
  front = await startFrontServer();
  const drained = front.server.drain(100, 1_500);
  const answer = await chat();
  expect([answer.status, answer.headers['x-sluice-refusal'], answer.headers['connection']]).toEqual([
    503,
    'draining',
    'close',
  ]);
  await drained;
  await expect(chat()).rejects.toThrow();
});

it('a drain lets running calls end, and cancels those that do not', async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let begun = 0;
  const both = Promise.withResolvers<void>();
  front = await startFrontServer({
    attempt: (call) => {
      const gate = gates[begun];
      begun += 1;
      if (begun === 2) both.resolve();
      return new Promise((resolve) => {
        void gate?.promise.then(resolve);
        call.cancel.onCancel(() => resolve());
      });
    },
  });
  const first = chat();
  const second = chat();
  await both.promise;
  const drained = front.server.drain(100);
  gates[0]?.resolve();
  await drained;
  const statuses = [(await first).status, (await second).status].sort();
  expect(statuses).toEqual([200, 503]);
  expect(front.ended.sort()).toEqual(['draining', 'ok']);
});

it('lists and limits may be asked for so often and no more, whatever is left of the rate, which they leave alone; and no other key is concerned', async () => {
  const clock = createFakeClock(SAMPLE_NOW_MS);
  front = await startFrontServer({ store: createMemoryLimitStore({ clock }), clock });
  const answers = [];
  for (let i = 0; i < 100; i += 1)
    answers.push(await ask(['/v1/models', '/v1/usage', '/v1/models/sim-small'][i % 3] as string));
  expect(
    new Set(answers.map(({ status, headers }) => `${status} ${headers['x-ratelimit-remaining-requests']}`)),
  ).toEqual(new Set(['200 100']));
  for (const path of ['/v1/models', '/v1/usage', '/v1/nothing']) {
    const { status, headers, json } = await ask(path);
    expect([
      status,
      headers['x-sluice-refusal'],
      headers['retry-after-ms'],
      headers['x-ratelimit-remaining-requests'],
    ]).toEqual([429, 'throttled', '50', '100']);
    expect(json).toMatchObject({
      error: { code: 'rate_limit_exceeded', message: expect.stringContaining('20 times a second') },
    });
  }
  const anthropic = await ask('/v1/models', { 'x-api-key': SAMPLE_KEYS.acme, 'anthropic-version': '2023-06-01' });
  expect([anthropic.status, anthropic.headers['retry-after']]).toEqual([429, '1']);
  expect(anthropic.json).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } });
  expect((await ask('/v1/models', { authorization: `Bearer ${SAMPLE_KEYS.globex}` })).status).toBe(200);
  clock.advance(50);
  expect((await ask('/v1/usage')).status).toBe(200);
});
