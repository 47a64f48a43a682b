import { EvaluationAnswer, RolloutView } from '@sluice/contracts';
import { eventually } from '@sluice/testing';
import {
  compileSnapshot,
  decideFromSnapshot,
  DEFAULT_FEATURES,
  DEFAULT_SETTINGS,
  textFeatures,
  verifyDecision,
} from '@sluice/routing';
import { createRouterState } from './state/router-state.ts';
import { createRolloutGuard } from './learn/rollout-guard.ts';
import { decision, decisionRow, ulid } from './testing/fixtures.ts';
import { startTestRouter, type TestRouter } from './testing/start-test-router.ts';

let test: TestRouter;
beforeEach(async () => {
  test = await startTestRouter();
  await test.router.loaded;
  await test.router.tick();
});
afterEach(() => test.close());

const actor = { kind: 'person', id: 'ada@sluice.example' };
const because = { actor, reason: 'it saves money' };
const policy = (version: string, settings: object = {}) =>
  test.call('POST', '/policies', { version, note: 'cheaper', actor, settings });

describe('policies', () => {
  it('are made from the serving one, never changed, and listed with what became of them', async () => {
    expect((await policy('v2', { cost_weight: 0.4 })).body).toMatchObject({
      version: 'v2',
      status: 'draft',
      settings: { cost_weight: 0.4, alpha: 0.5 },
      models: 'shared',
    });
    expect((await policy('v2')).status).toBe(409);
    expect((await policy('v3', { colour: 1 })).status).toBe(400);
    expect(
      (
        await test.call('POST', '/policies', {
          version: 'v4',
          note: 'wrong',
          actor,
          arms: [{ model: 'small', theta: [1], inverse: [[1]], n: 0 }],
        })
      ).body,
    ).toMatchObject({ status: 422, detail: expect.stringContaining('does not have 17 dimensions') });
    expect((await test.call('GET', '/policies')).body).toMatchObject({
      serving: 'v1',
      policies: [
        { version: 'v2', status: 'draft' },
        { version: 'v1', status: 'serving' },
      ],
    });
  });
});

describe('an evaluation', () => {
  /** Rated decisions of the first policy. */
  async function log(rows: number, distort = (p: number, _arm: number) => p): Promise<void> {
    const decisions = Array.from({ length: rows }, (_, i) => {
      const made = decision(i + 1);
      const flat = made.arms.map(({ probability }, arm) => distort(probability, arm));
      const sum = flat.reduce((a, b) => a + b, 0);
      return {
        ...decisionRow(i + 1),
        decision: { ...made, arms: made.arms.map((arm, k) => ({ ...arm, probability: (flat[k] as number) / sum })) },
      };
    });
    await test.store.commit({
      decisions,
      rewards: decisions.map(({ id, decision: { chosen } }) => ({
        id,
        state: 'rewarded',
        reward: { small: 0.6, medium: 0.8, large: 0.9 }[chosen] as number,
      })),
    });
  }
  const evaluate = async (version: string) =>
    EvaluationAnswer.parse((await test.call('POST', `/policies/${version}/evaluate`, {})).body);

  it('gives estimates with intervals and all diagnostics', async () => {
    await log(1_500);
    const answer = await evaluate('v1');
    if (answer.status !== 'estimated') throw new Error(answer.reasons.join());
    expect(answer.diagnostics).toMatchObject({ rows: 1_500, mean_weight: expect.closeTo(1, 1), support_deficiency: 0 });
    expect(answer.estimates.snips).toBeCloseTo(answer.logged_value, 1);
    expect(answer.intervals.dr.lower).toBeLessThan(answer.intervals.dr.upper);
    expect(answer.reward_range).toEqual({ min: 0.6, max: 0.9 });
  });

  it('is insufficient without rewards, with few of them, and with wrong probabilities, each with its reason', async () => {
    expect(await evaluate('v1')).toMatchObject({
      status: 'insufficient',
      reasons: ['no decision that was drawn has a reward yet'],
    });
    await log(50);
    expect(JSON.stringify(await evaluate('v1'))).toContain('effective sample is');
    await test.close();
    test = await startTestRouter();
    await test.router.loaded;
    await test.router.tick();
    // As if the first arm's probability had been logged too large.
    await log(1_500, (p, arm) => (arm === 0 ? 3 * p : p));
    expect(JSON.stringify(await evaluate('v1'))).toMatch(/the logged probabilities are wrong/);
    expect((await test.call('POST', '/policies/v9/evaluate', {})).status).toBe(404);
  });
});

describe('a rollout', () => {
  it('is made, started, aborted and made anew by persons with a reason, and by nobody without', async () => {
    await policy('v2');
    expect((await test.call('POST', '/rollouts', { policy_version: 'v9', ...because })).status).toBe(422);
    const made = RolloutView.parse((await test.call('POST', '/rollouts', { policy_version: 'v2', ...because })).body);
    expect(made).toMatchObject({ state: 'created', stage: 'shadow', clock: 'live' });
    const act = (action: string, body: object, id = made.id) => test.call('POST', `/rollouts/${id}/${action}`, body);
    expect((await act('start', { actor })).status).toBe(400);
    expect((await act('start', { actor: { kind: 'system', id: 'x' }, reason: 'because' })).status).toBe(400);
    expect((await act('start', because)).body).toMatchObject({ state: 'running', needed: 2_000 });
    expect((await test.call('GET', '/internal/snapshot')).body['candidate']).toMatchObject({
      rollout_id: made.id,
      stage: 'shadow',
      weight: 0,
      policy: { version: 'v2' },
    });
    expect((await act('start', because)).status).toBe(409);
    expect((await act('reset', because)).status).toBe(409);
    expect((await act('abort', because)).body).toMatchObject({ state: 'aborted', stage: 'rolled_back' });
    const anew = (await act('reset', because)).body;
    expect(anew).toMatchObject({ state: 'created', stage: 'shadow', policy_version: 'v2' });
    expect(anew['id']).not.toBe(made.id);
    expect((await test.call('GET', `/rollouts/${made.id}`)).body['history']).toContainEqual(
      expect.objectContaining({ actor: actor.id, reason: 'it saves money', to: `reset as ${String(anew['id'])}` }),
    );
    expect((await act('start', because, ulid(9))).status).toBe(404);
  });

  it.each([
    [0.9, 'promoted', 'full'],
    [0.7, 'rolled_back', 'rolled_back'],
  ])(
    'replayed with a candidate of quality %p is %s, with its evidence',
    async (candidate_quality, state, stage) => {
      const { status, body } = await test.call('POST', '/rollouts/replay', {
        ...because,
        candidate_quality,
        seconds: 60,
        seed: 3,
      });
      expect([status, body['clock']]).toEqual([202, 'replay']);
      const view = await eventually(
        async () => {
          const now = RolloutView.parse((await test.call('GET', `/rollouts/${String(body['id'])}`)).body);
          if (now.state === 'running') throw new Error(`still in ${now.stage}`);
          return now;
        },
        { timeoutMs: 60_000 },
      );
      expect(view).toMatchObject({ state, stage });
      expect(view.points.length).toBeGreaterThan(5);
      expect(view.history.at(-1)?.actor).toBe('system');
      expect((await test.call('GET', '/internal/snapshot')).body['candidate']).toBeUndefined();
    },
    90_000,
  );

  it('goes through all stages on live decisions by its share of them, and serves after', () => {
    const state = createRouterState();
    let n = 0;
    const apply = (body: Parameters<typeof state.apply>[0]['body']) =>
      state.apply({ seq: state.seq + 1, atMs: 1_000 * (n += 1), body });
    const models = [
      { id: 'small', tier: 0 },
      { id: 'large', tier: 2 },
    ];
    apply({ kind: 'models_seen', models });
    const first = { version: 'v1', note: '', createdBy: 'x', settings: DEFAULT_SETTINGS, features: DEFAULT_FEATURES };
    apply({ kind: 'policy_created', policy: first });
    apply({ kind: 'policy_created', policy: { ...first, version: 'v2' } });
    apply({ kind: 'rollout_created', id: ulid(1), policyVersion: 'v2', margin: 0.05, actor: 'a', reason: 'r' });
    apply({ kind: 'rollout_started', id: ulid(1), actor: 'a', reason: 'r' });
    const random = uniform(5);
    const features = textFeatures('Explain it');
    const weights = { shadow: 0, canary_1: 0.5, canary_5: 0.5, canary_25: 0.5, full: 1, rolled_back: 0 };
    const stages = new Set<string>();
    let compiled = compileSnapshot(snapshotOf());
    for (let i = 0; i < 40_000 && state.serving === 'v1' && state.running !== undefined; i += 1) {
      if (i % 500 === 0 || state.running.stage !== compiled.snapshot.candidate?.stage)
        compiled = compileSnapshot(snapshotOf());
      stages.add(state.running.stage);
      const result = decideFromSnapshot(compiled, {
        decisionId: ulid(10 + i),
        tenant: i % 2 === 0 ? 'a' : 'b',
        features,
        candidates: [
          { model: 'small', costNanoUsd: 1 },
          { model: 'large', costNanoUsd: 9 },
        ],
        u: random(),
        variantDraw: random(),
      });
      if (result.status !== 'decided') throw new Error(result.status);
      apply({
        kind: 'reward',
        tenant: 'a',
        reward: Math.min(1, Math.max(0, 0.9 + 0.1 * (random() - 0.5))),
        decision: result.decision,
      });
      if (i === 0) expect(verifyDecision(result.decision).matches).toBe(true);
    }
    expect([...stages]).toEqual(['shadow', 'canary_1', 'canary_5', 'canary_25', 'full']);
    expect([state.serving, state.rollouts.get(ulid(1))?.life]).toEqual(['v2', 'promoted']);

    function snapshotOf() {
      const running = state.running;
      return {
        format: 1 as const,
        snapshot_id: ulid(0),
        created_at: '2026-06-01T00:00:00.000Z',
        control: state.publish('v1'),
        tenants: {},
        ...(running === undefined
          ? {}
          : {
              candidate: {
                rollout_id: running.id,
                stage: running.stage,
                weight: weights[running.stage],
                policy: state.publish('v2'),
              },
            }),
      };
    }
  }, 120_000);
});

describe('hard limits', () => {
  it('are breached by errors, latency and cost of the candidate, each against the control, and by cost upward only', () => {
    const breached = (candidate: object) => {
      const guard = createRolloutGuard();
      guard.enter(ulid(1), 'canary_5');
      const call = { failed: false, totalMs: 300, costNanoUsd: 100 };
      for (let i = 0; i < 400; i += 1) {
        guard.add('control', call);
        guard.add('candidate', { ...call, ...candidate });
      }
      return guard.limits.filter((limit) => limit.breached).map(({ name }) => name);
    };
    expect(breached({})).toEqual([]);
    expect(breached({ failed: true })).toEqual(['error_rate']);
    expect(breached({ totalMs: 2_000 })).toEqual(['latency_p99_ms']);
    expect([breached({ costNanoUsd: 200 }), breached({ costNanoUsd: 10 })]).toEqual([['cost_per_request'], []]);
  });
});

function uniform(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}
