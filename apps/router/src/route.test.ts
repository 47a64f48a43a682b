import { RouteAnswer, type DecisionView, type ExplainedArm } from '@sluice/contracts';
import { TEXT_FEATURES } from '@sluice/routing';
import { createMemoryRouterStore } from './store/memory-router-store.ts';
import { KEYS, messages, startTestRouter, testConfig, type TestRouter } from './testing/start-test-router.ts';

let test: TestRouter;
const others: TestRouter[] = [];
beforeEach(async () => {
  test = await startTestRouter();
  await test.router.loaded;
  await test.router.tick();
});
afterEach(async () => {
  for (const one of [test, ...others.splice(0)]) await one.close();
});

const ask = (more: object = {}, token?: string) =>
  test.call(
    'POST',
    '/route',
    { workspace: 'acme-prod', messages: messages('Explain why 17 is prime.'), ...more },
    token,
  );
const abilities = testConfig(({ models }) => {
  Object.assign(models?.['medium'] ?? {}, { abilities: ['chat', 'tools'] });
  Object.assign(models?.['large'] ?? {}, { abilities: ['chat', 'tools', 'images'] });
});
const features = Object.fromEntries(TEXT_FEATURES.map((name, i) => [name, i / 10]));

describe('POST /route', () => {
  it('chooses a model and says everything about why', async () => {
    const { status, body } = await ask({ feature: 'chat', budget_used: 0.9 });
    expect(status).toBe(200);
    const answer = RouteAnswer.parse(body);
    expect(Object.values(answer.probabilities ?? {}).reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 12);
    expect(answer.probabilities?.[answer.model]).toBe(answer.propensity);
    expect(answer).toMatchObject({
      provider: 'primary',
      dry_run: false,
      policy: { version: 'v1', stage: 'serving', variant: 'control' },
      threshold: { base: 0.75, budget_adj: expect.closeTo(-0.125, 9) },
    });
    expect(Object.keys(answer.features ?? {})).toEqual([...TEXT_FEATURES]);
    expect(answer.arms).toHaveLength(3);
    expect(answer.reason).toMatch(/^(small|medium|large)/);
    expect(answer.fallbacks).toHaveLength(2);
  });

  it('says less when less is asked', async () => {
    expect(Object.keys((await ask({ explain: 'none' })).body).sort()).toEqual([
      'decision_id',
      'dry_run',
      'expires_at',
      'fallbacks',
      'model',
      'policy',
      'propensity',
      'provider',
    ]);
    const summary = (await ask({ explain: 'summary' })).body;
    expect([typeof summary['reason'], summary['arms']]).toEqual(['string', undefined]);
  });

  it('takes features by name instead of messages', async () => {
    expect((await ask({ messages: undefined, features })).body['features']).toEqual(features);
  });

  it('gives one request_id the same decision again, also after a restart, and refuses it for another request', async () => {
    const first = await ask({ request_id: 'r-1' });
    for (let i = 0; i < 5; i += 1) expect((await ask({ request_id: 'r-1' })).body).toEqual(first.body);
    expect((await ask({ request_id: 'r-1', messages: messages('Something else') })).status).toBe(409);
    const other = await test.call('POST', '/route', {
      workspace: 'globex-prod',
      messages: messages('Explain why 17 is prime.'),
      request_id: 'r-1',
    });
    expect(other.body['decision_id']).not.toBe(first.body['decision_id']);
    await test.call('GET', '/decisions');
    const { store } = test;
    const again = await startTestRouter({ store: { ...store, close: async () => undefined } });
    await again.router.loaded;
    const after = await again.call('POST', '/route', {
      workspace: 'acme-prod',
      messages: messages('Explain why 17 is prime.'),
      request_id: 'r-1',
    });
    expect([after.body['decision_id'], after.body['propensity']]).toEqual([
      first.body['decision_id'],
      first.body['propensity'],
    ]);
    await again.close();
  });

  it('decides without a trace when it is only to be tried', async () => {
    const { body } = await ask({ dry_run: true, request_id: 'r-2' });
    expect(body['dry_run']).toBe(true);
    expect((await test.call('GET', `/decisions/${String(body['decision_id'])}`)).status).toBe(404);
    expect((await test.call('GET', '/decisions')).body['decisions']).toEqual([]);
  });

  it('lists why each candidate was excluded when none is left', async () => {
    const { status, body } = await ask({
      candidates: ['small', 'medium', 'large', 'nothing'],
      exclude: ['small'],
      constraints: { max_cost_nanousd: 1, context_tokens: 9_000 },
    });
    expect(status).toBe(422);
    expect(body['errors']).toEqual([
      { path: 'small', message: 'the request excludes it' },
      { path: 'medium', message: 'its context holds 8000 tokens; 9000 are needed' },
      { path: 'large', message: 'its context holds 8000 tokens; 9000 are needed' },
      { path: 'nothing', message: 'there is no model of this name' },
    ]);
    expect((await ask({ constraints: { max_cost_nanousd: 1 } })).body['errors']).toContainEqual({
      path: 'large',
      message: expect.stringMatching(/^it would cost about \d+ nanodollars, more than 1$/),
    });
  });

  it('chooses among those that can do what the call needs, whether it says so or its messages show it', async () => {
    const able = await startTestRouter({ config: () => abilities });
    others.push(able);
    await able.router.loaded;
    await able.router.tick();
    const route = (more: object) =>
      able.call('POST', '/route', { workspace: 'acme-prod', messages: messages('What is it?'), ...more });
    const excluded = async (more: object) =>
      ((await route(more)).body['arms'] as ExplainedArm[]).flatMap(({ model, excluded_reason: reason }) =>
        reason === undefined ? [] : [[model, reason]],
      );
    const image = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: 'https://x.test/y.png' } },
        ],
      },
    ];
    const cannot = (what: string) => `it cannot do ${what}, which the call needs`;
    expect(await excluded({})).toEqual([]);
    expect(await excluded({ needs: ['tools'] })).toEqual([['small', cannot('tools')]]);
    expect(await excluded({ messages: undefined, features, needs: ['tools'] })).toEqual([['small', cannot('tools')]]);
    expect(await excluded({ messages: image })).toEqual([
      ['small', cannot('images')],
      ['medium', cannot('images')],
    ]);
    expect(
      await excluded({
        messages: [
          ...messages('x'),
          { role: 'assistant', content: null, tool_calls: [{ id: 'c' }] },
          { role: 'tool', content: '1', tool_call_id: 'c' },
        ],
      }),
    ).toEqual([['small', cannot('tools')]]);
    expect(await excluded({ messages: [{ role: 'user', content: [{ type: 'tool_result', content: 'x' }] }] })).toEqual([
      ['small', cannot('tools')],
    ]);
    const nobody = await route({ messages: image, needs: ['tools', 'audio'] });
    expect([nobody.status, nobody.body['errors']]).toEqual([
      422,
      [
        { path: 'small', message: cannot('tools, audio, images') },
        { path: 'medium', message: cannot('audio, images') },
        { path: 'large', message: cannot('audio') },
      ],
    ]);
    expect((await route({ needs: ['embeddings'] })).status).toBe(400);
  });

  it('marks a single candidate: propensity 1, and not evaluated', async () => {
    const { body } = await ask({ candidates: ['medium'] });
    expect(body).toMatchObject({
      model: 'medium',
      propensity: 1,
      deterministic: 'single_candidate',
      decided_by: 'only_candidate',
    });
    expect((await test.call('GET', `/decisions/${String(body['decision_id'])}`)).body).toMatchObject({
      reward_state: 'not_evaluated',
      decision: { evaluated: false },
    });
  });

  it.each([
    ['no workspace from a service', { workspace: undefined }, 400, /a service must say/],
    ['an unknown workspace', { workspace: 'nobody' }, 404, /there is no workspace 'nobody'/],
    ['neither messages nor features', { messages: undefined }, 400, /exactly one of messages and features/],
    ['an unknown field', { colour: 'red' }, 400, /colour/],
    [
      'a missing feature',
      { messages: undefined, features: { ...features, log_chars: undefined } },
      422,
      /features.log_chars.*is missing/,
    ],
    [
      'a feature that is no number',
      { messages: undefined, features: { ...features, log_chars: null } },
      422,
      /must be a finite number, not null/,
    ],
    [
      'an infinite feature',
      { messages: undefined, features: { ...features, log_chars: 'Infinity' } },
      422,
      /must be a finite number/,
    ],
    [
      'a feature that the policy does not have',
      { messages: undefined, features: { ...features, mood: 1 } },
      422,
      /mood.*is not a feature/,
    ],
    ['a quality out of range', { constraints: { min_quality: 1.5 } }, 400, /constraints.min_quality/],
  ])('refuses %s', async (_what, more, status, message) => {
    const reply = await ask(more);
    expect([reply.status, JSON.stringify(reply.body)]).toEqual([status, expect.stringMatching(message)]);
    expect(reply.headers.get('content-type')).toBe('application/problem+json');
  });

  it('refuses a body that is no JSON, and a caller without a credential', async () => {
    expect((await test.call('POST', '/route', '{')).status).toBe(400);
    expect((await test.call('POST', '/route', {}, 'wrong')).status).toBe(401);
  });

  it('lets a key decide for its own workspace only, and read only its own decisions', async () => {
    const mine = await test.call('POST', '/route', { messages: messages('Hello') }, KEYS['acme-prod']);
    expect(mine.status).toBe(200);
    expect(
      (await test.call('POST', '/route', { workspace: 'globex-prod', messages: messages('Hello') }, KEYS['acme-prod']))
        .status,
    ).toBe(404);
    const id = String(mine.body['decision_id']);
    expect((await test.call('GET', `/decisions/${id}`, undefined, KEYS['acme-prod'])).status).toBe(200);
    const [foreign, unknown] = await Promise.all(
      [id, `${id.slice(0, 25)}${id.endsWith('0') ? '1' : '0'}`].map((one) =>
        test.call('GET', `/decisions/${one}`, undefined, KEYS['globex-prod']),
      ),
    );
    const shape = ({ status, body }: typeof mine) => ({ status, ...body, request_id: '' });
    expect(shape(foreign as typeof mine)).toEqual(shape(unknown as typeof mine));
    expect(foreign?.status).toBe(404);
    for (const path of ['/decisions', '/policies', '/tenants', '/internal/snapshot'])
      expect([path, (await test.call('GET', path, undefined, KEYS['acme-prod'])).status]).toEqual([path, 401]);
  });
});

describe('POST /route/batch', () => {
  it('judges each item alone', async () => {
    const { status, body } = await test.call('POST', '/route/batch', {
      items: [{ workspace: 'acme-prod', messages: messages('a') }, { workspace: 'nobody', messages: messages('a') }, 7],
    });
    expect(status).toBe(200);
    expect((body['items'] as { status: number }[]).map((item) => item.status)).toEqual([200, 404, 400]);
  });

  it('refuses more than 256', async () => {
    expect((await test.call('POST', '/route/batch', { items: new Array(257).fill({}) })).status).toBe(400);
  });
});

describe('a logged decision', () => {
  it('gives the same probabilities and predictions again', async () => {
    for (let i = 0; i < 10; i += 1) {
      const { body } = await ask({ messages: messages(`Question ${i}`) });
      const view = (await test.call('GET', `/decisions/${String(body['decision_id'])}?verify=1`))
        .body as unknown as DecisionView;
      expect(view.verification).toEqual({
        max_difference: 0,
        matches: true,
        predictions: { max_difference: 0, matches: true },
      });
    }
  });
});

describe('while the store is away', () => {
  it('decides on until the bound, then refuses rather than lose a probability, and stores all when it is back', async () => {
    const memory = createMemoryRouterStore();
    let away = false;
    const store = {
      ...memory,
      commit: (changes: Parameters<typeof memory.commit>[0]) =>
        away ? Promise.reject(new Error('away')) : memory.commit(changes),
    };
    const router = await startTestRouter({ store, maxWaiting: 6 });
    await router.router.loaded;
    await router.router.tick();
    away = true;
    const asked = async () =>
      (await router.call('POST', '/route', { workspace: 'acme-prod', messages: messages('Hello') })).status;
    expect([await asked(), await asked(), await asked(), await asked()]).toEqual([200, 200, 200, 503]);
    // Half of the room is the most that one customer may fill.
    expect(
      (await router.call('POST', '/route', { workspace: 'globex-prod', messages: messages('Hello') })).status,
    ).toBe(200);
    expect(
      (await router.call('POST', '/feedback', { decision_id: '01ARZ3NDEKTSV4RRFFQ69G5FAV', value: 1 })).status,
    ).toBe(503);
    away = false;
    expect(((await router.call('GET', '/decisions')).body['decisions'] as unknown[]).length).toBe(4);
    expect(await asked()).toBe(200);
    await router.close();
  });
});

describe('delivery to gateways', () => {
  it('serves the snapshot with a tag, and as a stream that begins with it', async () => {
    const { headers, body } = await test.call('GET', '/internal/snapshot');
    const tag = headers.get('etag') as string;
    expect(tag).toBe(`"${String(body['snapshot_id'])}"`);
    expect(
      (
        await fetch(`${test.url}/internal/snapshot`, {
          headers: { authorization: 'Bearer token-of-the-router', 'if-none-match': tag },
        })
      ).status,
    ).toBe(304);
    const abort = new AbortController();
    const stream = await fetch(`${test.url}/internal/snapshots`, {
      headers: { authorization: 'Bearer token-of-the-router' },
      signal: abort.signal,
    });
    const first = await stream.body?.getReader().read();
    expect(new TextDecoder().decode(first?.value)).toContain(
      `event: snapshot\ndata: ${JSON.stringify(body)}`.slice(0, 200),
    );
    abort.abort();
    expect((await fetch(`${test.url}/internal/snapshots`)).status).toBe(401);
  });

  it('publishes nothing new while nothing changed', async () => {
    const before = (await test.call('GET', '/internal/snapshot')).body['snapshot_id'];
    await test.router.tick();
    expect((await test.call('GET', '/internal/snapshot')).body['snapshot_id']).toBe(before);
  });
});

it('says that it is not ready before it has a configuration or its state', async () => {
  const router = await startTestRouter({ config: () => undefined });
  await router.router.loaded;
  const reply = await router.call('POST', '/route', { workspace: 'acme-prod', messages: messages('Hello') });
  expect([reply.status, reply.body['detail']]).toEqual([503, 'It has no configuration yet.']);
  await router.close();
});

it('excludes what policy, data rules, retirement and switches forbid, each with its reason', async () => {
  const config = testConfig((raw) => {
    Object.assign(raw['models']?.['small'] as object, { retirement: { at: '2026-01-01T00:00:00.000Z' } });
    Object.assign(raw['workspaces']?.['acme-prod'] as object, {
      override: { routing: { allowModels: ['small', 'large'] } },
    });
    Object.assign(raw['workspaces']?.['globex-prod'] as object, { override: { dataRules: { regions: ['eu'] } } });
    Object.assign(raw['killSwitches'] as object, { x: { id: 'x', scope: 'model', target: 'large', message: 'off' } });
  });
  const router = await startTestRouter({ config: () => config });
  await router.router.loaded;
  const reasons = async (workspace: string) =>
    (await router.call('POST', '/route', { workspace, messages: messages('Hello') })).body['errors'];
  expect(await reasons('acme-prod')).toEqual([
    { path: 'small', message: 'it was retired on 2026-01-01' },
    { path: 'medium', message: 'the policy of the workspace does not allow it' },
    { path: 'large', message: 'an operator has switched it off' },
  ]);
  expect(await reasons('globex-prod')).toContainEqual({
    path: 'medium',
    message: 'the data rules of the workspace allow none of its regions',
  });
  await router.close();
});
