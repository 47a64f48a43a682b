import type { IncomingMessage } from 'node:http';
import { createAdapterRegistry } from '@sluice/providers';
import { createFakeClock } from '@sluice/testing';
import type { Call, Resolved } from '../../call.ts';
import { SAMPLE_NOW_MS } from '../../testing/front-server.ts';
import { compiledSample } from '../../testing/compiled-sample.ts';
import { SAMPLE_KEYS, type RawSnapshot } from '../../testing/sample-snapshot.ts';
import { createPlanner } from '../../planning/planner.ts';
import { needsOf } from '../../bodies/needs-of.ts';
import { createResolveStage } from './resolve.ts';

interface Given {
  body?: object;
  headers?: Record<string, string>;
  key?: keyof typeof SAMPLE_KEYS;
  change?: (raw: RawSnapshot) => void;
  operation?: Call['operation'];
}

function resolve({ body = {}, headers = {}, key = 'acme', change, operation = 'chat' }: Given) {
  const config = compiledSample(change);
  const json = { model: 'sim-small', messages: [{ role: 'user', content: 'x' }], ...body };
  const call = {
    operation,
    config,
    key: config.keys.get(SAMPLE_KEYS[key].split('-')[2] as string),
    json,
    body: Buffer.from(JSON.stringify(json)),
    request: { headers } as unknown as IncomingMessage,
    resolved: undefined,
  } as unknown as Call;
  const refusal = createResolveStage({
    clock: createFakeClock(SAMPLE_NOW_MS),
    planner: createPlanner({ adapters: createAdapterRegistry().get }),
  }).run(call);
  return { refusal, resolved: call.resolved as Resolved | undefined };
}

const ids = (resolved: Resolved | undefined) => resolved?.candidates.map((model) => model.id);
const kill = (scope: string, target?: string) => (raw: RawSnapshot) => {
  raw.killSwitches[`${scope}-${target}`] = {
    id: `${scope}-${target}`,
    scope,
    ...(target === undefined ? {} : { target }),
    message: 'Back at noon.',
    retryAfterSeconds: 90,
  };
};

it('an alias names a catalogue model, and what the caller wrote is kept', () => {
  const { resolved } = resolve({
    body: {
      model: 'fast',
      max_completion_tokens: 9,
      n: 2,
      user: 'u1',
      stream: true,
      stream_options: { include_usage: true },
    },
  });
  expect(ids(resolved)).toEqual(['sim-small']);
  expect(resolved).toMatchObject({
    modelRequested: 'fast',
    pinned: false,
    maxOutputTokens: 9,
    choices: 2,
    endUser: 'u1',
    priceVersion: 3,
  });
  expect(resolved?.inbound).toMatchObject({ stream: true, wantsUsage: true });
});

it.each([
  ['user', { user: 'a\0b' }],
  ['user', { user: 'half \ud83d of a pair' }],
  ['metadata.team', { metadata: { team: 'a\0' } }],
  ['metadata.n', { metadata: { n: -0 } }],
  ['metadata.__proto__', JSON.parse('{"metadata":{"__proto__":"x"}}') as object],
  ['model', { model: 'sim\0' }],
])('what no store can keep is refused where it stands: %s in %j', (param, body) => {
  expect(resolve({ body }).refusal).toMatchObject({ code: 'invalid_value', param });
});

it('an end user that is longer than a record holds is cut, and whole to the last character', () => {
  const user = `${'x'.repeat(255)}\u{1f600}`;
  expect(resolve({ body: { user } }).resolved?.endUser).toBe(`${'x'.repeat(255)}\ufffd`);
});

it.each([
  ['secondary/sim-small', 'secondary'],
  ['primary/sim-small-v1', 'primary'],
  ['sim-small-v1', 'primary'],
])('the pin %s leaves only the provider that it names', (model, provider) => {
  const { resolved } = resolve({ body: { model } });
  expect(resolved?.pinned).toBe(true);
  expect(resolved?.candidates[0].offers.map((offer) => offer.provider)).toEqual([provider]);
});

it('a feature puts its model before the one that was asked for, and never overrides a pin', () => {
  const headers = { 'x-sluice-feature': 'summary' };
  expect(ids(resolve({ headers }).resolved)).toEqual(['sim-large', 'sim-small']);
  expect(ids(resolve({ headers, body: { model: 'primary/sim-small' } }).resolved)).toEqual(['sim-small']);
});

it('a request cannot override the tags of its key', () => {
  expect(resolve({ headers: { 'x-sluice-tags': 'team=other,build=7' } }).resolved?.tags).toEqual({
    team: 'search',
    build: '7',
  });
});

it('a model that the key may not use is answered like one that does not exist', () => {
  const forbidden = resolve({ key: 'narrow' }).refusal;
  expect(forbidden).toEqual({
    code: 'model_not_found',
    param: 'model',
    message: "The model 'sim-small' does not exist or this key may not use it.",
  });
  expect(resolve({ key: 'narrow', body: { model: 'sim-large' } }).refusal).toBeUndefined();
});

it.each([
  ['all', undefined],
  ['workspace', 'acme-prod'],
  ['model', 'sim-small'],
  ['feature', 'summary'],
])("a kill switch on %s answers with the operator's message and wait", (scope, target) => {
  const { refusal } = resolve({ change: kill(scope, target), headers: { 'x-sluice-feature': 'summary' } });
  expect(refusal).toEqual({ code: 'kill_switch', message: 'Back at noon.', retryAfterMs: 90_000 });
});

it('a kill switch on one provider leaves the other; on all providers it refuses', () => {
  expect(resolve({ change: kill('provider', 'primary') }).refusal).toBeUndefined();
  const both = (raw: RawSnapshot): void => {
    kill('provider', 'primary')(raw);
    kill('provider', 'secondary')(raw);
  };
  expect(resolve({ change: both }).refusal).toMatchObject({ code: 'kill_switch' });
});

it("another workspace goes on under a workspace's kill switch, and a suspended tenant is refused", () => {
  expect(resolve({ key: 'globex', change: kill('workspace', 'acme-prod') }).refusal).toBeUndefined();
  const { refusal } = resolve({
    change: (raw) => void ((raw.tenants.acme as Record<string, unknown>).status = 'suspended'),
  });
  expect(refusal).toEqual({ code: 'workspace_suspended' });
});

it('a model without the ability is refused for the operation', () => {
  expect(resolve({ body: { model: 'embedder' } }).refusal).toMatchObject({ code: 'invalid_value', param: 'model' });
  expect(resolve({ operation: 'embeddings', body: { model: 'embedder', input: 'x' } }).refusal).toBeUndefined();
});

it('the bound is the one that the dialect knows, or a caller could reserve less than it may use', () => {
  const boundOf = (operation: 'chat' | 'messages', fields: object) =>
    resolve({ operation, body: { max_tokens: 500, ...fields } }).resolved?.maxOutputTokens;
  expect(boundOf('chat', { max_tokens: undefined, max_output_tokens: 1 })).toBeUndefined();
  expect(boundOf('chat', { max_completion_tokens: 1 })).toBe(500);
  expect(boundOf('messages', { max_completion_tokens: 1, max_output_tokens: 1 })).toBe(500);
});

describe('a request that leaves its model open', () => {
  const models = ({ candidates }: { candidates: readonly { model: { id: string } }[] }) =>
    candidates.map(({ model }) => model.id);
  const openOf = (given: Given) => {
    const { resolved, refusal } = resolve({ body: { model: 'auto' }, ...given });
    return resolved?.choice?.kind === 'open'
      ? {
          models: models(resolved.choice),
          excluded: Object.fromEntries(resolved.choice.excluded.map(({ model, why }) => [model.id, why])),
          plan: resolved.plan,
        }
      : { refusal, resolved };
  };

  it('has as candidates what key, policy, data rules, switches, price and chain allow, the default first', () => {
    expect(openOf({})).toMatchObject({ models: ['sim-small', 'sim-large'], excluded: { unpriced: 'has no price' } });
    expect(openOf({ key: 'narrow' })).toMatchObject({ models: ['sim-large'], excluded: {} });
    expect(
      openOf({ change: (raw) => void ((raw.models['sim-large'] as Record<string, unknown>).tier = 3) }),
    ).toMatchObject({ models: ['sim-large', 'sim-small'] });
    expect(openOf({ change: kill('model', 'sim-small') })).toMatchObject({
      models: ['sim-large'],
      excluded: { 'sim-small': 'switched off' },
    });
    const only = (offers: object[]) => (raw: RawSnapshot) =>
      void Object.assign(raw.models['sim-large'] as object, { offers });
    expect(openOf({ change: only([{ provider: 'elsewhere', providerModel: 'x' }]) })).toMatchObject({
      excluded: { 'sim-large': 'no provider of the chain can serve it' },
    });
  });

  it('stays within a contract that forbids a fallback', () => {
    const { plan } = openOf({
      change: (raw) =>
        void Object.assign((raw.plans.team as { policy: object }).policy, { dataRules: { noFallback: true } }),
    });
    expect(plan?.entries).toHaveLength(1);
  });

  it('is no choice for embeddings, and counts tokens by the default model', () => {
    expect(resolve({ operation: 'embeddings', body: { model: 'auto', input: 'x' } }).refusal).toMatchObject({
      code: 'invalid_value',
      param: 'model',
    });
    const { resolved } = resolve({ operation: 'count_tokens', body: { model: 'auto' } });
    expect([ids(resolved), resolved?.choice]).toEqual([['sim-small'], undefined]);
  });

  it('has at most as many candidates as a record holds', () => {
    const many = (raw: RawSnapshot): void => {
      const prices = (raw.plans.team as { priceBook: { prices: Record<string, unknown> } }).priceBook.prices;
      for (let i = 0; i < 100; i += 1) {
        raw.models[`m${i}`] = { ...(raw.models['sim-small'] as object), id: `m${i}` };
        prices[`m${i}`] = prices['sim-small'];
      }
    };
    expect(openOf({ change: many }).models).toHaveLength(64);
  });

  it.each([
    [
      "the operator's words where everything is switched off",
      (raw: RawSnapshot) => ['sim-small', 'sim-large', 'unpriced'].forEach((id) => kill('model', id)(raw)),
      {},
      { code: 'kill_switch', message: 'Back at noon.' },
    ],
    [
      'why of each model where none can answer',
      undefined,
      { tools: [{}] },
      { code: 'invalid_value', param: 'model', message: expect.stringContaining('sim-large: cannot do tools') },
    ],
  ])('is refused with %s', (_what, change, body, refusal) => {
    expect(
      resolve({ body: { model: 'auto', ...body }, ...(change === undefined ? {} : { change }) }).refusal,
    ).toMatchObject(refusal);
  });

  it.each<[string, object, string[]]>([
    ['nothing for text', {}, []],
    ['tools', { tools: [{ type: 'function' }] }, ['tools']],
    ['no tools for an empty list', { tools: [] }, []],
    [
      "images in OpenAI's parts",
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'x' },
              { type: 'image_url', image_url: {} },
            ],
          },
        ],
      },
      ['images'],
    ],
    [
      "images in Anthropic's results of tools",
      { messages: [{ role: 'user', content: [{ type: 'tool_result', content: [{ type: 'image', source: {} }] }] }] },
      ['images'],
    ],
    ['audio', { messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] }, ['audio']],
    ['audio out', { modalities: ['text', 'audio'] }, ['audio']],
    ['JSON', { response_format: { type: 'json_schema' } }, ['json']],
    ['no JSON for text', { response_format: { type: 'text' } }, []],
    ['JSON of a response', { text: { format: { type: 'json_object' } } }, ['json']],
    ['reasoning by effort', { reasoning_effort: 'high' }, ['reasoning']],
    ['no reasoning', { reasoning_effort: 'none', thinking: { type: 'disabled' } }, []],
    ["reasoning of Anthropic's", { thinking: { type: 'enabled', budget_tokens: 1_024 } }, ['reasoning']],
  ])('needs %s', (_what, body, needs) => {
    expect(needsOf({ messages: [{ role: 'user', content: 'x' }], ...body })).toEqual(needs);
  });
});

it.each([-1, 0.5, 1e300, 0])(
  'a number of choices (%d) where there is only one changes nothing of what is reserved',
  (n) => {
    for (const operation of ['messages', 'embeddings', 'count_tokens'] as const) {
      expect(
        resolve({
          operation,
          body: { max_tokens: 1, input: 'x', n, ...(operation === 'embeddings' ? { model: 'embedder' } : {}) },
        }).resolved?.choices,
      ).toBe(1);
    }
  },
);
