import { AuditEvent, DriftAnswer, type OutgoingEvent } from '@sluice/contracts';
import { DEFAULT_FEATURES, DEFAULT_SETTINGS, heightOf, stepOf, type ReactionStep } from '@sluice/routing';
import { createFakeClock } from '@sluice/testing';
import type { JournalBody, JournalEntry } from '../state/journal.ts';
import { createRouterState, type RouterState } from '../state/router-state.ts';
import { createMemoryRouterStore } from '../store/memory-router-store.ts';
import { AT_MS, decision, MODELS, ulid } from '../testing/fixtures.ts';
import { messages, startTestRouter } from '../testing/start-test-router.ts';
import { createDriftReactor, type DriftReactor } from './drift-reactor.ts';

const V1 = { version: 'v1', note: '', createdBy: 'x', settings: DEFAULT_SETTINGS, features: DEFAULT_FEATURES };

/** A state with a reactor on it; all that happens is one journal. */
function startReactor({
  highest = 'rollback' as ReactionStep,
  refuse = 0,
  windows = {} as Partial<Parameters<typeof createDriftReactor>[0]['drift']>,
} = {}) {
  const clock = createFakeClock(AT_MS);
  const state = createRouterState();
  const entries: JournalEntry[] = [];
  const sent: OutgoingEvent[] = [];
  const logged: { fields: object; message: string }[] = [];
  let refusals = refuse;
  let n = 0;
  const apply = (body: JournalBody): void => {
    const entry: JournalEntry = structuredClone({ seq: state.seq + 1, atMs: clock.now(), body });
    entries.push(entry);
    state.apply(entry);
  };
  apply({ kind: 'policy_created', policy: V1 });
  apply({ kind: 'models_seen', models: MODELS });
  const reactor: DriftReactor = createDriftReactor({
    keeper: { state, record: async (work) => (await work(state)).bodies.forEach(apply) },
    drift: {
      seen: 0,
      rebase: () => undefined,
      report: () => ({
        window: { reference: 0, recent: 0, needed: 500 },
        features: [],
        arm_mix: { psi: 0, level: 'too_few' },
      }),
      ...windows,
    },
    names: () => DEFAULT_FEATURES.names,
    highest,
    clock,
    publisher: {
      publish: async (events) => {
        if (refusals > 0) {
          refusals -= 1;
          return events.map(({ id }) => id);
        }
        sent.push(...events);
        return [];
      },
    },
    logger: { warn: (fields, message) => void logged.push({ fields, message }) },
  });
  /** Rewards of a model that are so much beside its prediction. */
  const reward = (times: number, beside: number, model = 'large'): void => {
    for (let i = 0; i < times; i += 1) {
      const made = decision((n += 1));
      const mean = made.arms.find((arm) => arm.model === model)?.mean ?? 0;
      apply({
        kind: 'reward',
        tenant: 'acme',
        reward: mean + beside,
        decision: { ...made, chosen: model, policy_version: 'v1' },
      });
    }
  };
  /** Drifts on until the ladder stands there. */
  const driveTo = async (step: ReactionStep): Promise<void> => {
    reward(300, 0);
    for (let i = 0; i < 60 && stepOf(state.reaction) !== step; i += 1) {
      reward(100, -0.3);
      clock.advance(61_000);
      await reactor.tick();
      await reactor.flushed();
    }
    expect(stepOf(state.reaction)).toBe(step);
  };
  return { clock, state, entries, sent, logged, reactor, reward, apply, driveTo };
}

const thetaOf = (state: RouterState, model: string): readonly number[] | undefined =>
  state.arms.arms().find((arm) => arm.model === model)?.theta;
const strengthOf = (state: RouterState, model: string): number =>
  state.arms.state.find((arm) => arm.model === model)?.ridge.a[0]?.[0] ?? 0;

describe('the reactions of a router', () => {
  it('are each recorded, logged with their numbers and published once, though the spine refused at first', async () => {
    const { state, sent, logged, reactor, driveTo, clock } = startReactor({ refuse: 2 });
    await driveTo('forget');
    for (let i = 0; i < 3; i += 1) {
      clock.advance(1_000);
      await reactor.tick();
      await reactor.flushed();
    }
    const events = sent.map(({ topic, body }) => [topic, AuditEvent.parse(JSON.parse(body))] as const);
    expect(events.map(([topic, { after }]) => [topic, (after as { step: string }).step])).toEqual([
      ['audit-events', 'alert'],
      ['audit-events', 'explore'],
      ['audit-events', 'forget_slowly'],
      ['audit-events', 'forget'],
    ]);
    expect(events[1]?.[1]).toMatchObject({
      type: 'drift_reaction.changed',
      actor: { kind: 'service', id: 'router' },
      reason: expect.stringMatching(/of large: -0\.\d+ beyond 0\.\d+ after \d+; detection 1 of 1/),
    });
    expect(logged.map(({ fields }) => fields)).toContainEqual(
      expect.objectContaining({
        from: 'explore',
        to: 'forget_slowly',
        evidence: [expect.objectContaining({ subject: 'large' })],
        effects: { gamma: 0.7, floor: 1.5, keep: 0.999, frozen: false },
      }),
    );
    expect(reactor.view()).toMatchObject({
      mode: 'reacting',
      step: 'forget',
      suspects: ['large'],
      ends: { to: 'forget_slowly', rewards_left: 500 },
      history: [{ to: 'forget', kind: 'up', actor: 'system' }, {}, {}, {}],
    });
    expect(reactor.published).toBe(state.reactions.at(-1)?.seq);
  });

  it('raise floors and lower gamma in what is published, then let suspects alone forget, and freeze all', async () => {
    const { state, reward, reactor, clock, driveTo } = startReactor();
    const plain = state.publish('v1').settings;
    await driveTo('explore');
    const { settings, gamma } = state.publish('v1');
    expect([settings.floor, settings.rejected_floor]).toEqual([1.5 * plain.floor, 1.5 * plain.rejected_floor]);
    expect(gamma).toBeCloseTo(0.7 * 3 * Math.sqrt(state.arms.total), 9);
    reward(500, 0, 'small');
    await driveTo('forget');
    const [large, small] = [strengthOf(state, 'large'), strengthOf(state, 'small')];
    reward(50, 0, 'large');
    reward(50, 0, 'small');
    expect(strengthOf(state, 'small')).toBe(small + 50);
    expect(strengthOf(state, 'large')).toBeLessThan(large);
    await driveTo('freeze');
    const [theta, withheld] = [thetaOf(state, 'small'), () => reactor.view().withheld];
    expect(withheld()).toBe(0);
    reward(20, 0.1, 'small');
    expect(thetaOf(state, 'small')).toEqual(theta);
    expect([withheld(), state.publish('v1').settings.floor]).toEqual([20, plain.floor]);
    // Down again by quiet alone, and it learns on.
    reward(1_000, 0);
    for (const step of ['forget', 'forget_slowly', 'explore', 'alert', 'watching']) {
      clock.advance(600_001);
      reward(500, 0);
      await reactor.tick();
      expect(stepOf(state.reaction)).toBe(step);
    }
    reward(1, 0.1, 'small');
    expect(thetaOf(state, 'small')).not.toEqual(theta);
  });

  it('end at freeze where there is nothing to go back to; else they end the running rollout', async () => {
    const { state, apply, driveTo, reactor, reward, clock } = startReactor();
    await driveTo('freeze');
    for (let i = 0; i < 10; i += 1) {
      reward(100, -0.3);
      clock.advance(61_000);
      await reactor.tick();
    }
    expect(stepOf(state.reaction)).toBe('freeze');
    apply({ kind: 'policy_created', policy: { ...V1, version: 'v2' } });
    apply({ kind: 'rollout_created', id: ulid(1), policyVersion: 'v2', margin: 0.05, actor: 'a', reason: 'r' });
    apply({ kind: 'rollout_started', id: ulid(1), actor: 'a', reason: 'r' });
    await driveTo('rollback');
    expect(state.rollouts.get(ulid(1))?.state).toMatchObject({
      life: 'rolled_back',
      history: expect.arrayContaining([
        expect.objectContaining({
          to: 'rolled_back',
          actor: 'system',
          reason: expect.stringContaining('rewards went on drifting while the policy was frozen'),
        }),
      ]),
    });
    expect(state.running).toBeUndefined();
  });

  it('take a promoted policy back to the one that served before it', () => {
    const { state, apply, entries } = startReactor();
    apply({ kind: 'policy_created', policy: { ...V1, version: 'v2' } });
    apply({ kind: 'rollout_created', id: ulid(1), policyVersion: 'v2', margin: 0.05, actor: 'a', reason: 'r' });
    const saved = state.saved;
    const promoted = createRouterState({
      ...saved,
      serving: 'v2',
      rollouts: saved.rollouts.map((rollout) => ({ ...rollout, life: 'promoted', stage: 'full' })),
    });
    expect(promoted.revocable?.id).toBe(ulid(1));
    promoted.apply({
      seq: entries.length + 1,
      atMs: 1,
      body: { kind: 'rollout_breached', id: ulid(1), actor: 'system', reason: 'drift' },
    });
    expect([promoted.serving, promoted.rollouts.get(ulid(1))?.life, promoted.revocable]).toEqual([
      'v1',
      'rolled_back',
      undefined,
    ]);
  });

  it('come back from journal and checkpoint to the last bit, forgetting and freezing alike', async () => {
    const { state, entries, driveTo, reward } = startReactor();
    await driveTo('forget');
    reward(40, -0.1);
    const checkpoint = JSON.parse(JSON.stringify(state.saved)) as typeof state.saved;
    await driveTo('freeze');
    reward(40, -0.1);
    const [folded, restored] = [createRouterState(), createRouterState(checkpoint)];
    for (const entry of entries) folded.apply(JSON.parse(JSON.stringify(entry)) as JournalEntry);
    for (const entry of entries) if (entry.seq > restored.seq) restored.apply(entry);
    expect(folded.saved).toEqual(state.saved);
    expect(restored.saved).toEqual(state.saved);
  });

  it('count a shift of the windows once, and hold later windows against it', async () => {
    let rebased = 0;
    const seen = { seen: 1_000, rebase: () => (rebased += 1) };
    const moved = {
      window: { reference: 1_000, recent: 1_000, needed: 500 },
      features: [],
      arm_mix: { psi: 0.4, level: 'major' as const },
    };
    const { state, reactor, clock } = startReactor({
      windows: { ...seen, report: () => (rebased === 0 ? moved : { ...moved, arm_mix: { psi: 0, level: 'too_few' } }) },
    });
    for (let i = 0; i < 5; i += 1) {
      clock.advance(61_000);
      await reactor.tick();
    }
    expect([stepOf(state.reaction), rebased]).toEqual(['alert', 1]);
    expect(state.reactions.map(({ why }) => why)).toEqual([
      'arm_mix of the mix of models: 0.400 beyond 0.25 after 1000; detection 1 of 1',
    ]);
  });

  it('take no step where they are off, and none beyond what is allowed', async () => {
    for (const highest of ['watching', 'explore'] as const) {
      const { state, reactor, reward, clock, entries } = startReactor({ highest });
      reward(300, 0);
      for (let i = 0; i < 20; i += 1) {
        reward(100, -0.3);
        clock.advance(61_000);
        await reactor.tick();
      }
      expect(heightOf(stepOf(state.reaction))).toBe(heightOf(highest));
      if (highest === 'watching') expect(entries.some(({ body }) => body.kind === 'drift_reaction')).toBe(false);
    }
  });

  it('are held by a person with a reason over HTTP, over a restart, until they are released', async () => {
    const store = createMemoryRouterStore();
    const actor = { kind: 'person', id: 'ada@sluice.example' };
    let test = await startTestRouter({ store, driftReactions: 'rollback' });
    await test.router.loaded;
    await test.router.tick();
    const floor = async () =>
      ((await test.call('GET', '/internal/snapshot')).body as { control: { settings: { floor: number } } }).control
        .settings.floor;
    const before = await floor();
    expect((await test.call('POST', '/drift/hold', { step: 'rollback', actor, reason: 'why not' })).status).toBe(400);
    expect((await test.call('POST', '/drift/hold', { step: 'explore', actor })).status).toBe(400);
    expect((await test.call('POST', '/drift/release', { actor, reason: 'why not' })).status).toBe(409);
    const held = DriftAnswer.parse(
      (await test.call('POST', '/drift/hold', { step: 'explore', actor, reason: 'new models' })).body,
    );
    expect(held.reactions).toMatchObject({ mode: 'held', step: 'explore', held_by: actor.id, held_for: 'new models' });
    expect(await floor()).toBeCloseTo(1.5 * before, 12);
    await test.close();
    test = await startTestRouter({ store, driftReactions: 'alert' });
    await test.router.loaded;
    await test.router.tick();
    expect(DriftAnswer.parse((await test.call('GET', '/drift')).body).reactions).toMatchObject({
      mode: 'held',
      step: 'explore',
      highest: 'alert',
    });
    expect((await test.call('POST', '/drift/release', { actor, reason: 'seen enough' })).body).toMatchObject({
      reactions: { mode: 'reacting', step: 'explore' },
    });
    await test.router.tick();
    expect((await test.call('GET', '/drift')).body).toMatchObject({
      reactions: {
        step: 'alert',
        history: [{ kind: 'limited' }, { kind: 'released', actor: actor.id }, { kind: 'held' }],
      },
    });
    expect((await test.call('POST', '/route', { workspace: 'acme-prod', messages: messages('Explain.') })).status).toBe(
      200,
    );
    await test.close();
  });
});
