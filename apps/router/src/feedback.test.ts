import { createFakeClock, type FakeClock } from '@sluice/testing';
import { createLearnedArms, FREE_INFLUENCE } from './state/learned-arms.ts';
import { decision, decisionRow, ulid } from './testing/fixtures.ts';
import { KEYS, messages, startTestRouter, type TestRouter } from './testing/start-test-router.ts';
import { rewardAtDeadline } from './learn/reward-deadline.ts';

let test: TestRouter;
let clock: FakeClock;
beforeEach(async () => {
  clock = createFakeClock(Date.UTC(2026, 5, 1));
  test = await startTestRouter({ clock });
  await test.router.loaded;
  await test.router.tick();
});
afterEach(() => test.close());

async function decided(more: object = {}): Promise<string> {
  const { body } = await test.call('POST', '/route', {
    workspace: 'acme-prod',
    messages: messages('Explain why 17 is prime.'),
    ...more,
  });
  return String(body['decision_id']);
}
const rate = (decision_id: string, value: number, more: object = {}, token?: string) =>
  test.call('POST', '/feedback', { decision_id, value, ...more }, token);
const learned = async () =>
  ((await test.call('GET', '/arms')).body['arms'] as { n: number }[]).reduce((sum, { n }) => sum + n, 0);

describe('feedback', () => {
  it('is learned once, taken again with the same value, and refused with another', async () => {
    const id = await decided();
    expect((await rate(id, 0.8)).status).toBe(202);
    expect((await rate(id, 0.8)).status).toBe(202);
    expect((await rate(id, 0.3)).status).toBe(409);
    await test.router.tick();
    expect(await learned()).toBe(1);
    expect((await test.call('GET', `/decisions/${id}`)).body).toMatchObject({
      reward_state: 'rewarded',
      reward: 0.8,
      feedback: [{ metric: 'quality', value: 0.8 }],
    });
  });

  it("is 404 for a decision that does not exist and for another tenant's, with the same body", async () => {
    const id = await decided();
    const [foreign, unknown] = await Promise.all([
      rate(id, 1, {}, KEYS['globex-prod']),
      rate('01ARZ3NDEKTSV4RRFFQ69G5FAV', 1, {}, KEYS['globex-prod']),
    ]);
    const shape = ({ status, body }: typeof foreign) => ({ status, ...body, request_id: '' });
    expect(shape(foreign)).toEqual(shape(unknown));
    expect(foreign.status).toBe(404);
    expect((await rate(id, 1, {}, KEYS['acme-prod'])).status).toBe(202);
  });

  it('is 410 after its time, and what nobody rated then counts for nothing', async () => {
    const id = await decided();
    clock.advance(60_001);
    expect((await rate(id, 1)).status).toBe(410);
    await test.router.tick();
    expect((await test.call('GET', `/decisions/${id}`)).body).toMatchObject({ reward_state: 'expired' });
    expect(await learned()).toBe(0);
  });

  it.each([[-0.1], [1.1], ['0.5'], [null]])('refuses %p as a value, by name', async (value) => {
    const reply = await test.call('POST', '/feedback', { decision_id: await decided(), value });
    expect([reply.status, JSON.stringify(reply.body)]).toEqual([400, expect.stringContaining('"path":"value"')]);
  });

  it('of a batch has a result for each item, and is taken as far as it can be', async () => {
    const ids = [await decided(), await decided()];
    const { status, body } = await test.call('POST', '/feedback', [
      { decision_id: ids[0], value: 1 },
      { decision_id: ids[0], value: 1 },
      { decision_id: ids[0], value: 0 },
      { decision_id: ids[1], metric: 'outcome', value: 1 },
      { decision_id: '01ARZ3NDEKTSV4RRFFQ69G5FAV', value: 1 },
    ]);
    expect([status, (body['results'] as { status: number }[]).map((result) => result.status)]).toEqual([
      202,
      [202, 202, 409, 202, 404],
    ]);
    await test.router.tick();
    expect(await learned()).toBe(1);
    expect(
      (await test.call('POST', '/feedback', new Array(1_001).fill({ decision_id: ids[0], value: 1 }))).status,
    ).toBe(400);
  });

  it('of a single candidate is kept and not learned', async () => {
    const id = await decided({ candidates: ['small'] });
    expect((await rate(id, 1)).status).toBe(202);
    await test.router.tick();
    expect(await learned()).toBe(0);
  });

  it('waits for the decision of a gateway that is on its way', async () => {
    const slow = await startTestRouter({ feedbackWaitMs: 20_000 });
    await slow.router.loaded;
    const { body } = await slow.call('POST', '/route', {
      workspace: 'acme-prod',
      messages: messages('Hello'),
      dry_run: true,
    });
    const id = String(body['decision_id']);
    const rated = slow.call('POST', '/feedback', { decision_id: id, value: 1 });
    const row = decisionRow(1);
    await slow.store.commit({
      decisions: [
        {
          ...row,
          id,
          decision: { ...row.decision, decision_id: id },
          atMs: Date.now(),
          expiresAtMs: Date.now() + 60_000,
        },
      ],
    });
    expect((await rated).status).toBe(202);
    await slow.close();
  });
});

describe('the reward at the deadline', () => {
  const outcome = { decisionId: ulid(1), metric: 'outcome', value: 1, atMs: 0 };
  const call = (of: string) => ({ outcome: of, costNanoUsd: 0, billedNanoUsd: 0, outputTokens: 0, totalMs: 0 });
  it('is by one rule: the given outcome, else 0 for a failed call, else the default, else none', () => {
    expect(rewardAtDeadline({ feedback: [outcome], call: call('timeout') }, 0.5)).toEqual({
      state: 'rewarded',
      reward: 1,
    });
    expect(rewardAtDeadline({ feedback: [], call: call('upstream_error') }, 0.5)).toEqual({
      state: 'defaulted',
      reward: 0,
    });
    expect(rewardAtDeadline({ feedback: [], call: call('ok') }, 0.5)).toEqual({ state: 'defaulted', reward: 0.5 });
    expect(rewardAtDeadline({ feedback: [], call: call('cancelled') }, undefined)).toEqual({ state: 'expired' });
  });
});

describe('the arms', () => {
  it('learn from one tenant no more than its share, once there are others', () => {
    const arms = createLearnedArms();
    const { features } = decision(1);
    const teach = (tenant: string, reward: number, times: number) => {
      for (let i = 0; i < times; i += 1)
        arms.learn({ model: 'small', tenant, features, reward, predicted: 0.5, atMs: 0 });
    };
    teach('honest', 0.9, 200);
    teach('flood', 0, 20_000);
    const [small] = arms.summaries();
    expect([small?.learned, small?.capped]).toEqual([200 + FREE_INFLUENCE, 20_000 - FREE_INFLUENCE]);
    teach('honest', 0.9, 2_000);
    teach('flood', 0, 20_000);
    // As much as all others together.
    expect(arms.summaries()[0]?.learned).toBe(2 * 2_200);
  });

  it('find a fall of the rewards, and say nothing of a steady stream of 20,000', () => {
    const arms = createLearnedArms();
    const { features } = decision(1);
    let state = 1;
    const stream = (quality: number, times: number) => {
      for (let i = 0; i < times; i += 1) {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        arms.learn({
          model: 'small',
          tenant: 'a',
          features,
          reward: state / 2 ** 32 < quality ? 1 : 0,
          predicted: 0.9,
          atMs: i,
        });
      }
    };
    stream(0.9, 20_000);
    expect(arms.summaries()[0]?.alarmedAtMs).toBeUndefined();
    stream(0.7, 500);
    expect(arms.summaries()[0]?.alarmedAtMs).toBeLessThan(500);
  });
});
