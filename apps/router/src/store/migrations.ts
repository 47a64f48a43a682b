/** One step of the router's own schema; applied once, in order. Never edited after it was released. */
export interface RouterMigration {
  readonly id: string;
  readonly sql: string;
}

const FIRST = `
create table router.decisions (
  id text primary key, at timestamptz not null, tenant text not null, workspace text not null, source text not null,
  decision jsonb not null, chosen text not null, policy_version text, evaluated boolean not null,
  expires_at timestamptz not null, reward_state text not null, reward double precision,
  call jsonb, request_id text, request_digest text
);
create index decisions_newest on router.decisions (at desc, id desc);
create index decisions_tenant on router.decisions (tenant, at desc, id desc);
create index decisions_due on router.decisions (expires_at) where reward_state = 'pending';
create index decisions_rated on router.decisions (at desc, id desc) where evaluated and reward is not null;
create table router.feedback (
  decision_id text not null references router.decisions (id) on delete cascade, metric text not null, value double precision not null, at timestamptz not null,
  primary key (decision_id, metric)
);
create table router.journal (seq bigint primary key, at timestamptz not null, body jsonb not null);
create table router.checkpoints (seq bigint primary key, state jsonb not null, at timestamptz not null default now());
create table router.soft_state (id boolean primary key default true check (id), state jsonb not null);
create table router.snapshots (id text primary key, body jsonb not null);
`;

/** Scorers of snapshots, each once; a snapshot of before holds its own. */
const SCORERS = 'create table router.scorers (id text primary key, body jsonb not null);';

/** Time of the newest decision that was deleted for its age: one row at most. */
const RETENTION =
  'create table router.retention (id boolean primary key default true check (id), decisions_until timestamptz not null);';

export const ROUTER_MIGRATIONS: readonly RouterMigration[] = [
  { id: '0001-router', sql: FIRST },
  { id: '0002-scorers', sql: SCORERS },
  { id: '0003-retention', sql: RETENTION },
];
