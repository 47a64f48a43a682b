import { createFakeClock, eventually } from '@sluice/testing';
import { DEFAULT_FEATURES, DEFAULT_SETTINGS } from '@sluice/routing';
import { StorageAnswer } from '@sluice/contracts';
import pg from 'pg';
import type { JournalBody } from '../state/journal.ts';
import { createRouterState } from '../state/router-state.ts';
import { createMemoryRouterStore } from '../store/memory-router-store.ts';
import { createRouterPool, migrateRouter } from '../store/open-router-database.ts';
import { createPostgresRouterStore } from '../store/postgres-router-store.ts';
import type { DecisionRow, RouterStore } from '../store/router-store.ts';
import { AT_MS, decision, decisionRow, MODELS, ulid } from '../testing/fixtures.ts';
import { startTestDatabase, type TestDatabase } from '../testing/start-test-database.ts';
import { startTestRouter } from '../testing/start-test-router.ts';
import { createRetention, type RetentionRule } from './retention.ts';

const DAY_MS = 86_400_000;
const NOW = AT_MS + 10 * DAY_MS;
const silent = { warn: () => undefined };
let database: TestDatabase;
let made = 0;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.stop());

async function freshDatabase(): Promise<pg.Pool> {
  const name = `retention_${process.pid}_${(made += 1)}`;
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  const url = new URL(database.url);
  url.pathname = `/${name}`;
  const pool = createRouterPool(url.href, silent);
  await migrateRouter(pool);
  return pool;
}

/** A decision of so many days ago, settled unless told. */
const aged = (n: number, days: number, more: Partial<DecisionRow> = {}): DecisionRow =>
  decisionRow(n, {
    atMs: NOW - days * DAY_MS,
    expiresAtMs: NOW - days * DAY_MS + 60_000,
    rewardState: 'expired',
    ...more,
  });
const kept = async (store: RouterStore): Promise<string[]> =>
  (await store.recent({ limit: 10_000 })).map(({ id }) => id).reverse();

function keeperOf(store: RouterStore, rule: RetentionRule, running?: { createdAtMs: number }) {
  const clock = createFakeClock(NOW);
  const state = { running: running === undefined ? undefined : { state: running } } as unknown as ReturnType<
    typeof createRouterState
  >;
  return { clock, retention: createRetention({ store, state: () => state, clock, rule, rewardTimeoutMs: 60_000 }) };
}

describe.each([
  ['memory', async () => createMemoryRouterStore()],
  ['PostgreSQL', async () => createPostgresRouterStore(await freshDatabase())],
] as const)('retention of the log in %s', (_name, open) => {
  let store: RouterStore;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.close());

  it('deletes what is old with its feedback; what waits for its reward, may be rated, or is young stays; again changes nothing', async () => {
    const rows = [
      aged(1, 8),
      aged(2, 7),
      aged(3, 6, { rewardState: 'pending' }),
      aged(4, 6, { expiresAtMs: NOW + 3_600_000 }),
      aged(5, 4),
    ];
    await store.commit({
      decisions: rows,
      feedback: [{ decisionId: ulid(1), metric: 'quality', value: 1, atMs: NOW }],
    });
    const { retention, clock } = keeperOf(store, { days: 5, rows: 10_000 });
    await retention.tick();
    expect(await kept(store)).toEqual([ulid(3), ulid(4), ulid(5)]);
    expect(retention.view).toMatchObject({
      keep: { days: 5 },
      decisions: { rows: 3 },
      pruned: { decisions: 2, journal: 0 },
      held: 0,
    });
    clock.advance(301_000);
    await retention.tick();
    expect([await kept(store), retention.view.pruned]).toEqual([
      [ulid(3), ulid(4), ulid(5)],
      { decisions: 2, journal: 0 },
    ]);
    expect(retention.view.decisions.oldest).toBe(new Date(NOW - 6 * DAY_MS).toISOString());
  });

  it('does not take a decision again that was deleted, when its usage event comes a second time', async () => {
    await store.commit({ decisions: [aged(1, 8), aged(2, 7), aged(5, 4)] });
    await keeperOf(store, { days: 5, rows: 10_000 }).retention.tick();
    await store.commit({
      decisions: [aged(1, 8, { rewardState: 'pending' }), aged(2, 7, { rewardState: 'pending' }), aged(6, 6.9)],
    });
    expect(await kept(store)).toEqual([ulid(6), ulid(5)]);
    expect(await store.due(NOW, 10)).toEqual([]);
  });

  it('deletes the oldest beyond the number of rows, and says what has to stay', async () => {
    await store.commit({ decisions: [aged(1, 3), aged(2, 3), aged(3, 2), aged(4, 0), aged(5, 0)] });
    const { retention, clock } = keeperOf(store, { days: 30, rows: 1 });
    await retention.tick();
    // The last two may still be rated.
    expect(await kept(store)).toEqual([ulid(4), ulid(5)]);
    expect(retention.view).toMatchObject({ held: 1, pruned: { decisions: 3 } });
    clock.advance(301_000);
    await retention.tick();
    expect(await kept(store)).toEqual([ulid(5)]);
    expect(retention.view.held).toBe(0);
  });

  it('keeps every decision since a running rollout was made, and none of them once it has ended', async () => {
    await store.commit({ decisions: [aged(1, 9), aged(2, 7), aged(3, 6)] });
    const { retention } = keeperOf(store, { days: 5, rows: 1 }, { createdAtMs: NOW - 8 * DAY_MS });
    await retention.tick();
    expect(await kept(store)).toEqual([ulid(2), ulid(3)]);
    expect(retention.view).toMatchObject({ held: 1, kept_for_rollout_since: new Date(NOW - 8 * DAY_MS).toISOString() });
    await keeperOf(store, { days: 5, rows: 1 }).retention.tick();
    expect(await kept(store)).toEqual([]);
  });

  it('deletes at most 2,000 rows in a tick, goes on with the next, and ends alike when it was cut off between', async () => {
    const whole = [decision(1), decision(2)];
    for (let from = 0; from < 3_000; from += 500)
      await store.commit({
        decisions: Array.from({ length: 500 }, (_, i) => ({
          ...aged(from + i, 8),
          decision: whole[i % 2] as DecisionRow['decision'],
        })),
      });
    await store.commit({ decisions: [aged(9_000, 1)] });
    await keeperOf(store, { days: 5, rows: 10_000 }).retention.tick();
    expect((await store.measure(10_000)).decisions.rows).toBe(1_001);
    const { retention } = keeperOf(store, { days: 5, rows: 10_000 });
    await retention.tick();
    await retention.tick();
    expect(await kept(store)).toEqual([ulid(9_000)]);
  });
});

it('a table that is far beyond its bound is counted a little further only, again and again, until it is within', async () => {
  const counts: number[] = [];
  let rows = 30_000;
  const clock = createFakeClock(NOW);
  const store = {
    measure: async (upTo: number) => {
      counts.push(Math.min(upTo, rows));
      return {
        decisions: { rows: Math.min(upTo, rows), oldestMs: 0, bytes: undefined },
        journal: { rows: 0, oldestMs: undefined, bytes: undefined },
      };
    },
    pruneDecisions: async ({ beforeMs, limit }: { beforeMs: number; limit: number }) => {
      // None is too old.
      if (beforeMs < NOW - DAY_MS) return 0;
      rows -= limit;
      return limit;
    },
    pruneJournal: async () => 0,
  };
  const retention = createRetention({
    store,
    state: () => undefined,
    clock,
    rule: { days: 90, rows: 10_000 },
    rewardTimeoutMs: 60_000,
  });
  for (let i = 0; i < 40; i += 1) {
    clock.advance(1_000);
    await retention.tick();
  }
  expect([rows, retention.view.decisions.rows, retention.view.pruned.decisions]).toEqual([10_000, 10_000, 20_000]);
  expect(counts.slice(0, -1).every((count) => count === 11_000)).toBe(true);
  expect(counts.length).toBeLessThan(25);
});

describe('in PostgreSQL', () => {
  it('the journal is cut up to its older checkpoint at most, and a start gives the same state to the last bit', async () => {
    const pool = await freshDatabase();
    const store = createPostgresRouterStore(pool);
    const state = createRouterState();
    const commit = async (body: JournalBody) => {
      const entry = { seq: state.seq + 1, atMs: NOW - 9 * DAY_MS + state.seq, body };
      await store.commit({ entries: [entry] });
      state.apply(entry);
    };
    const seqs = async (): Promise<string> =>
      (await pool.query<{ seqs: string }>(`select min(seq) || '-' || max(seq) as seqs from router.journal`)).rows[0]
        ?.seqs as string;
    await commit({
      kind: 'policy_created',
      policy: { version: 'v1', note: '', createdBy: 'x', settings: DEFAULT_SETTINGS, features: DEFAULT_FEATURES },
    });
    await commit({ kind: 'models_seen', models: MODELS });
    for (let n = 3; n <= 40; n += 1) {
      if (n === 4) {
        await keeperOf(store, { days: 5, rows: 1 }).retention.tick();
        expect(await seqs()).toBe('1-3');
      }
      if (n === 15 || n === 31) await store.commit({ checkpoint: state.saved });
      await commit({ kind: 'reward', tenant: 'acme', reward: (n * 0.37) % 1, decision: decision(n) });
    }
    const { retention } = keeperOf(store, { days: 5, rows: 10_000 });
    await retention.tick();
    expect([await seqs(), retention.view.journal.rows, retention.view.pruned.journal]).toEqual(['15-40', 26, 14]);
    const loaded = await store.load(0);
    const again = createRouterState(loaded.checkpoint);
    for (const entry of loaded.entries) again.apply(entry);
    expect(again.saved).toEqual(state.saved);
    // The newest checkpoint is lost: the older one and what was kept make the same.
    await pool.query('delete from router.checkpoints where seq = 30');
    const older = await store.load(0);
    const fromOlder = createRouterState(older.checkpoint);
    for (const entry of older.entries) fromOlder.apply(entry);
    expect(fromOlder.saved).toEqual(state.saved);
    await store.close();
  });

  it('a row that another transaction holds is passed over, and waited for by nobody', async () => {
    const pool = await freshDatabase();
    const store = createPostgresRouterStore(pool);
    await store.commit({ decisions: [aged(1, 8), aged(2, 8)] });
    const other = await pool.connect();
    await other.query('begin');
    await other.query('select 1 from router.decisions where id = $1 for update', [ulid(1)]);
    await keeperOf(store, { days: 5, rows: 10_000 }).retention.tick();
    expect(await kept(store)).toEqual([ulid(1)]);
    await other.query('rollback');
    other.release();
    await keeperOf(store, { days: 5, rows: 10_000 }).retention.tick();
    expect(await kept(store)).toEqual([]);
    await store.close();
  });

  it('figures and rule are shown by GET /storage, and evaluation ends where the log does', async () => {
    const store = createPostgresRouterStore(await freshDatabase());
    const test = await startTestRouter({ store, clock: createFakeClock(NOW), retention: { days: 5, rows: 10_000 } });
    await test.router.loaded;
    await store.commit({
      decisions: [aged(1, 8), aged(2, 1)],
      rewards: [
        { id: ulid(1), state: 'rewarded', reward: 1 },
        { id: ulid(2), state: 'rewarded', reward: 0.5 },
      ],
    });
    await test.router.tick();
    const shown = await eventually(
      async () => {
        const answer = StorageAnswer.parse((await test.call('GET', '/storage')).body);
        expect(answer.pruned.decisions).toBe(1);
        return answer;
      },
      { timeoutMs: 20_000 },
    );
    expect(shown).toMatchObject({
      keep: { days: 5, rows: 10_000 },
      decisions: { rows: 1 },
      journal: { rows: expect.any(Number) },
      pruned: { decisions: 1 },
    });
    expect(shown.decisions.bytes).toBeGreaterThan(8_000);
    expect((await test.call('POST', '/policies/v1/evaluate', {})).body).toMatchObject({
      reward_range: { min: 0.5, max: 0.5 },
    });
    await test.close();
  });
});
