import { DecisionView, RouteAnswer, type RouterSnapshot } from '@sluice/contracts';
import {
  decideFromSnapshot,
  DEFAULT_FEATURES,
  DEFAULT_SETTINGS,
  fitTextScorer,
  promptText,
  readSnapshot,
  type TextScorerState,
} from '@sluice/routing';
import { createMemoryRouterStore } from './store/memory-router-store.ts';
import { messages, startTestRouter, type TestRouter } from './testing/start-test-router.ts';
import { AT_MS } from './testing/fixtures.ts';

const PROMPTS = ['who ruled the empire', 'when was the treaty signed', 'integrate the polynomial', 'invert the matrix'];
const scorerOf = (small: number): TextScorerState =>
  fitTextScorer(
    { models: ['small', 'large'], prompts: PROMPTS, qualities: PROMPTS.map((_, i) => [i < 2 ? 0.9 : small, 0.9]) },
    { buckets: 512, penalty: 0.3 },
  );
const scorer = scorerOf(0.1);
const actor = { kind: 'person', id: 'ada@sluice.example' };
const create = (version: string, more: object = {}) =>
  test.call('POST', '/policies', { version, note: 'by the words of the prompt', actor, ...more });
const published = async () => (await test.call('GET', '/internal/snapshot')).body as unknown as RouterSnapshot;

let test: TestRouter;
afterEach(() => test.close());

describe('a policy with a scorer', () => {
  beforeEach(async () => {
    test = await startTestRouter();
    await test.router.loaded;
    await test.router.tick();
  });

  it('is made by its upload; what is left out is as in the serving policy, and null takes it away', async () => {
    const made = await create('v2', { scorer, settings: { rule: 'utility', reference_cost: 2_000 } });
    expect(made).toMatchObject({
      status: 201,
      body: {
        settings: { rule: 'utility', reference_cost: 2_000, rejected_floor: DEFAULT_SETTINGS.rejected_floor },
        scorer: { models: ['small', 'large'], buckets: 512, strength: 1_000 },
      },
    });
    expect(JSON.stringify(made.body)).not.toContain(scorer.grams);
    expect((await create('v3')).body).toMatchObject({
      settings: { rule: 'cheapest', rejected_floor: DEFAULT_SETTINGS.rejected_floor },
    });
  });

  it.each([
    [
      'of the wrong size',
      { ...scorer, grams: 'AAAA' },
      'scorer.grams',
      'has 3 bytes; 2 models and 512 buckets need 2048',
    ],
    ['larger than a snapshot may carry', { ...scorer, buckets: 65_536 }, 'scorer.buckets', '16384'],
  ])('is refused with a scorer %s, and says what would fit', async (_what, bad, path, message) => {
    expect(await create('v2', { scorer: bad })).toMatchObject({
      status: 400,
      body: { errors: expect.arrayContaining([{ path, message: expect.stringContaining(message) }]) },
    });
  });

  it('is watched in the shadow beside one without; its scores are in the records from then on', async () => {
    expect((await published()).format).toBe(1);
    await create('v2', { scorer });
    const { body } = await test.call('POST', '/rollouts', { policy_version: 'v2', actor, reason: 'it saves money' });
    expect(
      (await test.call('POST', `/rollouts/${body['id'] as string}/start`, { actor, reason: 'it saves money' })).status,
    ).toBe(200);
    const snapshot = await published();
    expect([
      snapshot.format,
      snapshot.control.features.scorer,
      snapshot.candidate?.policy.features.scorer?.scorer.buckets,
    ]).toEqual([2, undefined, 512]);
    const answer = RouteAnswer.parse(
      (await test.call('POST', '/route', { workspace: 'acme-prod', messages: messages('invert the matrix') })).body,
    );
    expect(answer.features).toMatchObject({ 'score:small': expect.any(Number), 'score:large': expect.any(Number) });
    expect(answer.policy.version).toBe('v1');
  });
});

describe('a router whose serving policy has a scorer', () => {
  const draws = { u: 0.3, variant: 0.9 };
  beforeEach(async () => {
    const store = createMemoryRouterStore();
    const settings = {
      ...DEFAULT_SETTINGS,
      rule: 'utility' as const,
      reference_cost: 20_000,
      thresholds: { ...DEFAULT_SETTINGS.thresholds, default: 0.5 },
    };
    const features = {
      ...DEFAULT_FEATURES,
      scorer: { id: '0123456789abcdef', strength: 1_000, scorer: JSON.parse(JSON.stringify(scorer)) },
    };
    await store.commit({
      entries: [
        {
          seq: 1,
          atMs: AT_MS,
          body: {
            kind: 'policy_created',
            policy: { version: 'v1', note: 'scored', createdBy: 'ada', settings, features },
          },
        },
      ],
    });
    let n = 0;
    test = await startTestRouter({ store, random: () => ((n += 1) % 2 === 1 ? draws.u : draws.variant) });
    await test.router.loaded;
    await test.router.tick();
  });
  const ask = async (text: string, more: object = {}) =>
    RouteAnswer.parse(
      (
        await test.call('POST', '/route', {
          workspace: 'acme-prod',
          messages: messages(text),
          candidates: ['small', 'large'],
          ...more,
        })
      ).body,
    );

  it('chooses by the words, and says by what', async () => {
    expect([
      (await ask('who signed the treaty')).exploration?.base_arm,
      (await ask('invert the matrix')).exploration?.base_arm,
    ]).toEqual(['small', 'large']);
    expect((await ask('invert the matrix')).objective).toEqual({
      rule: 'utility',
      cost_weight: DEFAULT_SETTINGS.cost_weight,
      reference_cost_nanousd: 20_000,
    });
  });

  it('decides exactly as a gateway does that has read the same snapshot from the wire', async () => {
    const gateway = readSnapshot(await published());
    for (const text of [...PROMPTS, 'something else']) {
      const answer = await ask(text);
      const view = DecisionView.parse((await test.call('GET', `/decisions/${answer.decision_id}`)).body);
      const again = decideFromSnapshot(gateway, {
        decisionId: answer.decision_id,
        tenant: 'acme',
        features: gateway.extractor.extract(promptText({ messages: messages(text) })),
        candidates: view.decision.arms.map(({ model, cost_nanousd }) => ({ model, costNanoUsd: cost_nanousd })),
        u: draws.u,
        variantDraw: draws.variant,
      });
      expect(again).toEqual({ status: 'decided', decision: view.decision });
    }
  });

  it('gives every probability and prediction again with verify=1', async () => {
    const { decision_id: id } = await ask('prove that the matrix is invertible');
    const { verification } = DecisionView.parse((await test.call('GET', `/decisions/${id}?verify=1`)).body);
    expect(verification).toEqual({
      max_difference: 0,
      matches: true,
      predictions: { max_difference: 0, matches: true },
    });
  });

  it('learns from rewards of such decisions, and evaluates policies with and without the scorer on them', async () => {
    const { decision_id: id } = await ask('invert the matrix');
    expect((await test.call('POST', '/feedback', { decision_id: id, value: 1 })).status).toBe(202);
    await test.router.tick();
    expect((await test.call('GET', '/arms')).body['arms']).toContainEqual(expect.objectContaining({ n: 1 }));
    await create('plain', { scorer: null });
    for (const version of ['v1', 'plain'])
      expect(JSON.stringify((await test.call('POST', `/policies/${version}/evaluate`, {})).body)).toContain('"rows":1');
  });

  it('rolls out no policy with another scorer, and says how to come there', async () => {
    await create('v2', { scorer: scorerOf(0.5) });
    const { body } = await test.call('POST', '/rollouts', { policy_version: 'v2', actor, reason: 'a newer scorer' });
    expect(
      await test.call('POST', `/rollouts/${body['id'] as string}/start`, { actor, reason: 'a newer scorer' }),
    ).toMatchObject({
      status: 409,
      body: { title: expect.stringContaining('roll out one without a scorer between them') },
    });
  });
});
