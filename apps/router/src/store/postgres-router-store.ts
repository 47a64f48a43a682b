import type pg from 'pg';
import { RouteDecision, type RouterSnapshot } from '@sluice/contracts';
import type { JournalBody } from '../state/journal.ts';
import type { RouterStateSaved } from '../state/router-state.ts';
import { createPostgresRetention } from './postgres-retention.ts';
import { missingScorers, slimSnapshot, wholeSnapshot, type SlimSnapshot } from './slim-snapshot.ts';
import {
  KEPT_SNAPSHOTS,
  type CallOutcome,
  type Changes,
  type DecisionRow,
  type RewardState,
  type RouterStore,
  type StoredDecision,
} from './router-store.ts';

const KEPT_CHECKPOINTS = 2;

interface Row {
  id: string;
  at: Date;
  tenant: string;
  workspace: string;
  source: DecisionRow['source'];
  decision: unknown;
  expires_at: Date;
  reward_state: RewardState;
  reward: number | null;
  call: CallOutcome | null;
  request_id: string | null;
  request_digest: string | null;
  feedback: { metric: string; value: number; at: string }[] | null;
}

const SELECT = `select d.*, (select jsonb_agg(jsonb_build_object('metric', f.metric, 'value', f.value, 'at', f.at)) from router.feedback f where f.decision_id = d.id) as feedback from router.decisions d`;

/** Keeps everything in PostgreSQL, in a schema of its own that is up to date. */
export function createPostgresRouterStore(pool: pg.Pool): RouterStore {
  let writes = 0;

  async function stored(where: string, values: unknown[]): Promise<StoredDecision[]> {
    return (await pool.query<Row>(`${SELECT} ${where}`, values)).rows.map(toStored);
  }

  return {
    kind: 'postgres',
    load: async (sinceMs) => {
      const checkpoint = (
        await pool.query<{ state: RouterStateSaved }>('select state from router.checkpoints order by seq desc limit 1')
      ).rows[0]?.state;
      const entries = (
        await pool.query<{ seq: string; at: Date; body: JournalBody }>(
          'select seq, at, body from router.journal where seq > $1 order by seq',
          [checkpoint?.seq ?? 0],
        )
      ).rows;
      const soft = (await pool.query<{ state: unknown }>('select state from router.soft_state')).rows[0]?.state;
      const requests = await stored('where d.request_id is not null and d.at >= $1 order by d.at, d.id', [
        new Date(sinceMs),
      ]);
      return {
        checkpoint,
        entries: entries.map(({ seq, at, body }) => ({ seq: Number(seq), atMs: at.getTime(), body })),
        soft,
        requests,
      };
    },
    commit: async (changes) => {
      const client = await pool.connect();
      let broken: Error | undefined;
      try {
        await client.query('begin');
        await write(client, changes, (writes += 1));
        await client.query('commit');
      } catch (error) {
        broken = await client.query('rollback').then(
          () => undefined,
          (fault: Error) => fault,
        );
        throw error;
      } finally {
        client.release(broken);
      }
    },
    find: async (ids) => new Map((await stored('where d.id = any($1)', [ids])).map((one) => [one.id, one])),
    recent: ({ limit, tenant }) =>
      stored(
        `${tenant === undefined ? '' : 'where d.tenant = $2'} order by d.at desc, d.id desc limit $1`,
        tenant === undefined ? [limit] : [limit, tenant],
      ),
    due: (nowMs, limit) =>
      stored("where d.reward_state = 'pending' and d.expires_at <= $1 order by d.expires_at, d.id limit $2", [
        new Date(nowMs),
        limit,
      ]),
    rated: async ({ limit, tenant, loggedBy }) => {
      const { rows } = await pool.query<{ tenant: string; decision: unknown; reward: number }>(
        `select tenant, decision, reward from router.decisions where evaluated and reward is not null
         and ($2::text is null or tenant = $2) and ($3::text is null or policy_version = $3) order by at desc, id desc limit $1`,
        [limit, tenant ?? null, loggedBy ?? null],
      );
      return rows.map((row) => ({ ...row, decision: RouteDecision.parse(row.decision) }));
    },
    feedbackRates: async () => {
      const { rows } = await pool.query<{ model: string; decisions: string; rated: string }>(
        `select chosen as model, count(*) as decisions, count(*) filter (where reward_state = 'rewarded') as rated
         from (select chosen, reward_state from router.decisions where evaluated and reward_state <> 'pending' order by at desc, id desc limit 100000) recent group by chosen order by chosen`,
      );
      return rows.map(({ model, decisions, rated }) => ({ model, decisions: Number(decisions), rated: Number(rated) }));
    },
    snapshot: async (id) => {
      const slim = (await pool.query<{ body: SlimSnapshot }>('select body from router.snapshots where id = $1', [id]))
        .rows[0]?.body;
      if (slim === undefined) return undefined;
      const missing = missingScorers(slim);
      const found =
        missing.length === 0
          ? []
          : (
              await pool.query<{ id: string; body: unknown }>(
                'select id, body from router.scorers where id = any($1)',
                [missing],
              )
            ).rows;
      return wholeSnapshot(slim, new Map(found.map(({ id: scorer, body }) => [scorer, body])));
    },
    ...createPostgresRetention(pool),
    close: () => pool.end(),
  };
}

async function write(
  client: pg.PoolClient,
  { decisions, calls, feedback, rewards, entries, checkpoint, soft, snapshot }: Changes,
  count: number,
): Promise<void> {
  const iso = (ms: number): string => new Date(ms).toISOString();
  const rowsOf = (rows: readonly object[]): string[] => [JSON.stringify(rows)];
  if (decisions !== undefined && decisions.length > 0) {
    await client.query(
      `insert into router.decisions (id, at, tenant, workspace, source, decision, chosen, policy_version, evaluated, expires_at, reward_state, call, request_id, request_digest)
       select id, at, tenant, workspace, source, decision, decision ->> 'chosen', decision ->> 'policy_version', (decision ->> 'evaluated')::boolean, expires_at, reward_state, call, request_id, request_digest
       from jsonb_to_recordset($1::jsonb) as r (id text, at timestamptz, tenant text, workspace text, source text, decision jsonb, expires_at timestamptz, reward_state text, call jsonb, request_id text, request_digest text)
       where at > coalesce((select decisions_until from router.retention), '-infinity') on conflict (id) do nothing`,
      rowsOf(
        decisions.map(({ atMs, expiresAtMs, rewardState, request, ...row }) => ({
          ...row,
          at: iso(atMs),
          expires_at: iso(expiresAtMs),
          reward_state: rewardState,
          request_id: request?.id,
          request_digest: request?.digest,
        })),
      ),
    );
  }
  if (calls !== undefined && calls.length > 0) {
    await client.query(
      'update router.decisions d set call = r.call from jsonb_to_recordset($1::jsonb) as r (id text, call jsonb) where d.id = r.id and d.call is null',
      rowsOf(calls),
    );
  }
  if (feedback !== undefined && feedback.length > 0) {
    await client.query(
      `insert into router.feedback (decision_id, metric, value, at) select id, metric, value, at
       from jsonb_to_recordset($1::jsonb) as r (id text, metric text, value double precision, at timestamptz) on conflict do nothing`,
      rowsOf(feedback.map(({ decisionId, metric, value, atMs }) => ({ id: decisionId, metric, value, at: iso(atMs) }))),
    );
  }
  if (rewards !== undefined && rewards.length > 0) {
    await client.query(
      'update router.decisions d set reward_state = r.state, reward = r.reward from jsonb_to_recordset($1::jsonb) as r (id text, state text, reward double precision) where d.id = r.id',
      rowsOf(rewards),
    );
  }
  if (entries !== undefined && entries.length > 0) {
    await client.query(
      'insert into router.journal (seq, at, body) select seq, at, body from jsonb_to_recordset($1::jsonb) as r (seq bigint, at timestamptz, body jsonb)',
      rowsOf(entries.map(({ seq, atMs, body }) => ({ seq, at: iso(atMs), body }))),
    );
  }
  if (checkpoint !== undefined) {
    await client.query('insert into router.checkpoints (seq, state) values ($1, $2) on conflict (seq) do nothing', [
      checkpoint.seq,
      JSON.stringify(checkpoint),
    ]);
    await client.query(
      'delete from router.checkpoints where seq not in (select seq from router.checkpoints order by seq desc limit $1)',
      [KEPT_CHECKPOINTS],
    );
  }
  if (soft !== undefined)
    await client.query(
      'insert into router.soft_state (state) values ($1) on conflict (id) do update set state = excluded.state',
      [JSON.stringify(soft)],
    );
  if (snapshot !== undefined) {
    await keepSnapshot(client, snapshot);
    if (count % 50 === 0) await pruneSnapshots(client);
  }
}

async function keepSnapshot(client: pg.PoolClient, snapshot: RouterSnapshot): Promise<void> {
  const { slim, scorers } = slimSnapshot(snapshot);
  for (const [id, scorer] of scorers) {
    const known = (await client.query('select 1 from router.scorers where id = $1', [id])).rowCount;
    // A scorer is not sent again with each snapshot.
    if (known === 0)
      await client.query('insert into router.scorers (id, body) values ($1, $2) on conflict do nothing', [
        id,
        JSON.stringify(scorer),
      ]);
  }
  await client.query('insert into router.snapshots (id, body) values ($1, $2) on conflict do nothing', [
    snapshot.snapshot_id,
    JSON.stringify(slim),
  ]);
}

async function pruneSnapshots(client: pg.PoolClient): Promise<void> {
  // Ids sort by time.
  await client.query(
    'delete from router.snapshots where id < (select min(id) from (select id from router.snapshots order by id desc limit $1) kept)',
    [KEPT_SNAPSHOTS],
  );
  await client.query(`delete from router.scorers where not exists (select 1 from router.snapshots s
    where router.scorers.id in (s.body #>> '{control,features,scorer,id}', s.body #>> '{candidate,policy,features,scorer,id}'))`);
}

function toStored(row: Row): StoredDecision {
  return {
    id: row.id,
    atMs: row.at.getTime(),
    tenant: row.tenant,
    workspace: row.workspace,
    source: row.source,
    decision: RouteDecision.parse(row.decision),
    expiresAtMs: row.expires_at.getTime(),
    rewardState: row.reward_state,
    ...(row.reward === null ? {} : { reward: row.reward }),
    ...(row.call === null ? {} : { call: row.call }),
    ...(row.request_id === null || row.request_digest === null
      ? {}
      : { request: { id: row.request_id, digest: row.request_digest } }),
    feedback: (row.feedback ?? []).map(({ metric, value, at }) => ({
      decisionId: row.id,
      metric,
      value,
      atMs: Date.parse(at),
    })),
  };
}
