import type { RouterSnapshot, TextScorerSpec } from '@sluice/contracts';
import { fitTextScorer, readSnapshot, untrainedSnapshot } from '@sluice/routing';
import pg from 'pg';
import { startTestDatabase, type TestDatabase } from '../testing/start-test-database.ts';
import { AT_MS, decision, decisionRow, MODELS, ulid } from '../testing/fixtures.ts';
import { createMemoryRouterStore } from './memory-router-store.ts';
import { createRouterPool, migrateRouter } from './open-router-database.ts';
import { createPostgresRouterStore } from './postgres-router-store.ts';
import { KEPT_SNAPSHOTS, type RouterStore } from './router-store.ts';
import { createRouterState } from '../state/router-state.ts';
import type { JournalBody } from '../state/journal.ts';

const silent = { warn: () => undefined };
let database: TestDatabase;
let made = 0;
const pools: pg.Pool[] = [];
const scorer = fitTextScorer(
  {
    models: MODELS.map(({ id }) => id),
    prompts: ['a sum', 'a poem'],
    qualities: [
      [0, 1, 1],
      [1, 0, 1],
    ],
  },
  { buckets: 1_024 },
);
/** A published snapshot whose policy has a scorer. */
function scored(n: number): RouterSnapshot {
  const plain = untrainedSnapshot({ snapshotId: ulid(n), createdAt: new Date(AT_MS).toISOString(), models: MODELS });
  return {
    ...plain,
    control: {
      ...plain.control,
      features: {
        ...plain.control.features,
        scorer: { id: '0123456789abcdef', strength: 9, scorer: structuredClone(scorer) as TextScorerSpec },
      },
    },
  };
}
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.stop());

async function freshPostgres(): Promise<RouterStore> {
  const name = `router_${process.pid}_${(made += 1)}`;
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  const url = new URL(database.url);
  url.pathname = `/${name}`;
  const pool = createRouterPool(url.href, silent);
  await migrateRouter(pool);
  await migrateRouter(pool);
  pools.push(pool);
  return createPostgresRouterStore(pool);
}

describe.each([
  ['memory', async () => createMemoryRouterStore()],
  ['PostgreSQL', freshPostgres],
] as const)('the store in %s', (_name, open) => {
  let store: RouterStore;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.close());

  it('gives a decision back to the last bit, with its feedback, reward and call', async () => {
    await store.commit({ decisions: [decisionRow(1), decisionRow(2, { request: { id: 'r', digest: 'd' } })] });
    const call = {
      outcome: 'ok',
      executedModel: 'small',
      costNanoUsd: 12,
      billedNanoUsd: 15,
      outputTokens: 20,
      totalMs: 99.5,
    };
    await store.commit({
      calls: [
        { id: ulid(1), call },
        { id: ulid(99), call },
      ],
      feedback: [{ decisionId: ulid(1), metric: 'quality', value: 0.1 + 0.2, atMs: AT_MS + 5 }],
      rewards: [{ id: ulid(1), state: 'rewarded', reward: 0.1 + 0.2 }],
    });
    const found = await store.find([ulid(1), ulid(2), ulid(3)]);
    expect(found.get(ulid(1))).toEqual({
      ...decisionRow(1),
      rewardState: 'rewarded',
      reward: 0.1 + 0.2,
      call,
      feedback: [{ decisionId: ulid(1), metric: 'quality', value: 0.1 + 0.2, atMs: AT_MS + 5 }],
    });
    expect(found.get(ulid(2))).toMatchObject({
      rewardState: 'pending',
      request: { id: 'r', digest: 'd' },
      feedback: [],
    });
    expect(found.has(ulid(3))).toBe(false);
  });

  it('keeps the first of two decisions with one id, and the first outcome of a call', async () => {
    await store.commit({ decisions: [decisionRow(1)] });
    await store.commit({ decisions: [decisionRow(1, { tenant: 'globex' })] });
    const call = { outcome: 'ok', costNanoUsd: 1, billedNanoUsd: 1, outputTokens: 1, totalMs: 1 };
    await store.commit({ calls: [{ id: ulid(1), call }] });
    await store.commit({ calls: [{ id: ulid(1), call: { ...call, outcome: 'timeout' } }] });
    expect((await store.find([ulid(1)])).get(ulid(1))).toMatchObject({ tenant: 'acme', call: { outcome: 'ok' } });
  });

  it('finds what is due, what is rated and the newest, by tenant and policy', async () => {
    await store.commit({ decisions: [1, 2, 3].map((n) => decisionRow(n, n === 3 ? { tenant: 'globex' } : {})) });
    await store.commit({
      rewards: [
        { id: ulid(2), state: 'rewarded', reward: 0.5 },
        { id: ulid(3), state: 'rewarded', reward: 0.75 },
      ],
    });
    expect((await store.due(AT_MS + 60_001, 10)).map(({ id }) => id)).toEqual([ulid(1)]);
    expect(await store.due(AT_MS + 60_000, 10)).toEqual([]);
    expect((await store.rated({ limit: 10 })).map(({ reward, tenant }) => [tenant, reward])).toEqual([
      ['globex', 0.75],
      ['acme', 0.5],
    ]);
    expect(
      (await store.rated({ limit: 10, tenant: 'acme', loggedBy: 'v1' })).map(({ decision: one }) => one.decision_id),
    ).toEqual([ulid(2)]);
    expect(await store.rated({ limit: 10, loggedBy: 'v9' })).toEqual([]);
    expect((await store.recent({ limit: 2 })).map(({ id }) => id)).toEqual([ulid(3), ulid(2)]);
    expect((await store.recent({ limit: 9, tenant: 'acme' })).map(({ id }) => id)).toEqual([ulid(2), ulid(1)]);
    expect((await store.feedbackRates()).reduce((sum, { rated }) => sum + rated, 0)).toBe(2);
  });

  it('commits all or nothing, and no journal entry out of order', async () => {
    const body: JournalBody = { kind: 'models_seen', models: MODELS };
    await store.commit({ entries: [{ seq: 1, atMs: AT_MS, body }] });
    await expect(
      store.commit({ entries: [{ seq: 1, atMs: AT_MS, body }], decisions: [decisionRow(1)] }),
    ).rejects.toThrow();
    expect((await store.find([ulid(1)])).size).toBe(0);
    expect((await store.load(0)).entries).toEqual([{ seq: 1, atMs: AT_MS, body }]);
  });

  it('makes the same state again from a checkpoint and the entries after it, to the last bit', async () => {
    const state = createRouterState();
    const commit = async (body: JournalBody) => {
      const entry = { seq: state.seq + 1, atMs: AT_MS + state.seq, body };
      await store.commit({ entries: [entry] });
      state.apply(entry);
    };
    await commit({ kind: 'models_seen', models: MODELS });
    for (let n = 1; n <= 40; n += 1) {
      if (n === 25) await store.commit({ checkpoint: state.saved });
      await commit({
        kind: 'reward',
        tenant: n % 3 === 0 ? 'globex' : 'acme',
        reward: (n * 0.37) % 1,
        decision: decision(n),
      });
    }
    const loaded = await store.load(0);
    expect(loaded.entries[0]?.seq).toBe(26);
    const again = createRouterState(loaded.checkpoint);
    for (const entry of loaded.entries) again.apply(entry);
    expect(again.arms.arms()).toEqual(state.arms.arms());
    expect(again.saved).toEqual(state.saved);
  });

  it('keeps soft state and published snapshots', async () => {
    const snapshot = untrainedSnapshot({
      snapshotId: ulid(7),
      createdAt: new Date(AT_MS).toISOString(),
      models: MODELS,
    });
    await store.commit({ soft: { a: 1 }, snapshot });
    await store.commit({ soft: { a: 2 }, snapshot });
    expect((await store.load(0)).soft).toEqual({ a: 2 });
    expect(await store.snapshot(ulid(7))).toEqual(snapshot);
    expect(await store.snapshot(ulid(8))).toBeUndefined();
  });

  it('gives snapshots with scorers back whole, of control and candidate', async () => {
    const rollout = {
      rollout_id: ulid(90),
      stage: 'shadow' as const,
      weight: 0,
      policy: { ...scored(2).control, version: 'v2' },
    };
    for (const snapshot of [scored(1), { ...scored(2), candidate: rollout }]) await store.commit({ snapshot });
    expect([await store.snapshot(ulid(1)), await store.snapshot(ulid(2))]).toEqual([
      scored(1),
      { ...scored(2), candidate: rollout },
    ]);
    expect(readSnapshot(await store.snapshot(ulid(1))).extractor.names).toContain('score:small');
  });

  it('remembers idempotent requests of the last while', async () => {
    await store.commit({
      decisions: [
        decisionRow(1, { request: { id: 'old', digest: 'd' } }),
        decisionRow(5_000, { request: { id: 'new', digest: 'd' } }),
      ],
    });
    expect((await store.load(AT_MS + 100)).requests.map(({ request }) => request?.id)).toEqual(['new']);
  });
});

it('PostgreSQL holds a scorer once for all snapshots that have it, until the last of them goes, and reads those that hold their own', async () => {
  const store = await freshPostgres();
  const pool = pools.at(-1) as pg.Pool;
  const bytes = async (): Promise<number[]> =>
    (await pool.query<{ bytes: number }>('select length(body::text) as bytes from router.scorers')).rows.map(
      (row) => row.bytes,
    );
  await pool.query('insert into router.snapshots (id, body) values ($1, $2)', [ulid(0), JSON.stringify(scored(0))]);
  for (let n = 1; n <= 10; n += 1) await store.commit({ snapshot: scored(n) });
  expect(await bytes()).toEqual([expect.any(Number)]);
  const [whole = 0, slim = Infinity] = (
    await pool.query<{ bytes: number }>(
      'select length(body::text) as bytes from router.snapshots where id = any($1) order by id',
      [[ulid(0), ulid(1)]],
    )
  ).rows.map((row) => row.bytes);
  expect(slim).toBeLessThan(whole - scorer.grams.length);
  expect(await store.snapshot(ulid(0))).toEqual(scored(0));
  const plain = untrainedSnapshot({ snapshotId: ulid(0), createdAt: new Date(AT_MS).toISOString(), models: MODELS });
  for (let n = 11; n <= KEPT_SNAPSHOTS + 60; n += 1)
    await store.commit({ snapshot: { ...plain, snapshot_id: ulid(n) } });
  expect([await store.snapshot(ulid(10)), await bytes()]).toEqual([undefined, []]);
  await store.close();
}, 90_000);
