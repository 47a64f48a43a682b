import { LEDGER_APPEND_ONLY } from './ledger-migrations.ts';
import { TENANT_CONSOLE } from './tenant-migrations.ts';

/** One step of the schema; applied once, in order, each in its own transaction. Never edited after it was released. */
export interface Migration {
  readonly id: string;
  readonly sql: string;
}

const CONFIGURATION = `
create table config_rows (
  table_name text not null, id text not null, value jsonb not null, version integer not null,
  primary key (table_name, id)
);
create table config_log (version bigint primary key, changes jsonb not null, at timestamptz not null);
create table users (
  id text primary key, email text not null unique, password_hash text not null, roles jsonb not null default '{}',
  failed_attempts integer not null default 0, locked_until timestamptz, version integer not null default 1
);
create unique index users_email_lower on users (lower(email));
create table sessions (
  token_digest text primary key, principal jsonb not null, kind text not null,
  expires_at timestamptz not null, created_at timestamptz not null
);
create index sessions_expires_at on sessions (expires_at);
`;

const EVENTS = `
create table event_outbox (
  id bigserial primary key, topic text not null, event jsonb not null, attributes jsonb not null default '{}',
  published_at timestamptz
);
create index event_outbox_waiting on event_outbox (id) where published_at is null;
create table audit_log (
  event_id text primary key, occurred_at timestamptz not null, type text not null, actor jsonb not null, target jsonb not null,
  tenant_id text, workspace text, before jsonb, after jsonb, reason text
);
create index audit_log_newest on audit_log (occurred_at desc, event_id desc);
create index audit_log_tenant on audit_log (tenant_id, occurred_at desc);
create table anomalies (
  event_id text primary key, occurred_at timestamptz not null, type text not null, gateway_id text not null, cell_id text not null,
  tenant_id text, workspace text, level text, subject text not null, count integer not null, message text not null, samples jsonb not null
);
create index anomalies_newest on anomalies (occurred_at desc, event_id desc);
`;

const TOKENS = ['input', 'cache_read', 'cache_write', 'output', 'reasoning', 'audio'];
const rollup = (step: string): string => `
create table rollup_${step} (
  bucket timestamptz not null, tenant_id text not null, workspace text not null,
  model text not null, provider text not null, feature text not null, outcome text not null,
  calls bigint not null, attempts bigint not null,
  ${TOKENS.map((name) => `tokens_${name} bigint not null,`).join(' ')}
  cost_nanousd numeric(38) not null, billed_nanousd numeric(38) not null,
  primary key (workspace, bucket, model, provider, feature, outcome, tenant_id)
);
create index rollup_${step}_bucket on rollup_${step} (bucket);
`;

/**
 * `ledger_partition(month)` makes the partition of a month and moves what the default partition holds of it. The caller
 * holds the ledger's writer lock.
 */
const LEDGER = `
create table ledger (
  occurred_at timestamptz not null, event_id text not null, traceparent text,
  gateway_id text not null, epoch integer not null, sequence bigint not null,
  request_id text not null, client_request_id text, tenant_id text not null, workspace text not null, workspace_id text not null,
  cell_id text not null, key_id text not null, operation text not null, stream boolean not null, model_requested text not null,
  feature text, tags jsonb not null, end_user text,
  outcome text not null, error_code text, status integer not null, abort_case text not null, provider text, model text,
  fallback boolean not null, fallback_reason text, decision_id text, priority text not null, cache text not null,
  ${TOKENS.map((name) => `tokens_${name} bigint not null,`).join(' ')}
  usage_source text not null, cost_nanousd bigint not null, billed_nanousd bigint not null, price_version integer not null,
  estimate_input_tokens bigint not null, estimate_output_tokens bigint not null, finish_reason text,
  overhead_us bigint not null, queue_ms double precision not null, ttfb_ms double precision, total_ms double precision not null,
  attempts jsonb not null,
  primary key (occurred_at, event_id)
) partition by range (occurred_at);
create index ledger_workspace on ledger (workspace, occurred_at desc, event_id desc);
create index ledger_request on ledger (request_id);
create table ledger_default partition of ledger default;
create function ledger_partition(month timestamptz) returns void language plpgsql as $$
declare
  first timestamptz := date_trunc('month', month at time zone 'UTC') at time zone 'UTC';
  after timestamptz := (date_trunc('month', month at time zone 'UTC') + interval '1 month') at time zone 'UTC';
  part text := 'ledger_' || to_char(month at time zone 'UTC', 'YYYY_MM');
begin
  if to_regclass(part) is not null then return; end if;
  execute format('create table %I (like ledger including defaults including constraints)', part);
  execute format('with moved as (delete from ledger_default where occurred_at >= %L and occurred_at < %L returning *) insert into %I select * from moved', first, after, part);
  execute format('alter table ledger attach partition %I for values from (%L) to (%L)', part, first, after);
end $$;

create table ledger_watermarks (gateway_id text not null, epoch integer not null, sequence bigint not null, primary key (gateway_id, epoch));
create table ledger_positions (gateway_id text not null, epoch integer not null, sequence bigint not null, primary key (gateway_id, epoch, sequence));
`;

/** Epochs of gateways are milliseconds of the wall clock. */
const WIDE_EPOCHS = ['ledger', 'ledger_watermarks', 'ledger_positions']
  .map((table) => `alter table ${table} alter column epoch type bigint;`)
  .join('\n');

/**
 * A row of the outbox stays until the consumer has stored its event, and is published again when that takes too
 * long. What was published before this step is taken for stored.
 */
const OUTBOX_CONFIRMED = `
delete from event_outbox where published_at is not null;
alter table event_outbox add column event_id text generated always as (event ->> 'event_id') stored,
  add column due_at timestamptz not null default '-infinity', add column attempts integer not null default 0;
drop index event_outbox_waiting;
create index event_outbox_due on event_outbox (due_at, id);
create index event_outbox_event on event_outbox (event_id);
create index audit_log_type on audit_log (type, occurred_at desc);
`;

/** Rollups also tell keys apart, so that a key can be shown its own spend. They are made anew from the rows. */
const rollupByKey = (step: string): string => `
truncate rollup_${step};
alter table rollup_${step} add column key_id text not null, drop constraint rollup_${step}_pkey,
  add primary key (workspace, bucket, model, provider, feature, outcome, tenant_id, key_id);
insert into rollup_${step} (bucket, tenant_id, workspace, model, provider, feature, outcome, key_id, calls, attempts, ${TOKENS.map((name) => `tokens_${name}`).join(', ')}, cost_nanousd, billed_nanousd)
select date_trunc('${step}', occurred_at at time zone 'UTC') at time zone 'UTC', tenant_id, workspace,
  coalesce(model, ''), coalesce(provider, ''), coalesce(feature, ''), outcome, key_id,
  count(*) filter (where kind = 'call'), sum(jsonb_array_length(attempts))::bigint, ${TOKENS.map((name) => `sum(tokens_${name})::bigint`).join(', ')}, sum(cost_nanousd), sum(billed_nanousd)
from ledger group by 1, 2, 3, 4, 5, 6, 7, 8;
`;

/** Accounts of operators, and slugs that their ledger rows keep for one tenant. */
const OPERATORS = `
create table operators (
  name text collate "C" primary key, password_hash text not null, role text not null, enabled boolean not null default true,
  failed_attempts integer not null default 0, locked_until timestamptz,
  version integer not null default 1, created_at timestamptz not null default now()
);
create table retired_slugs (slug text primary key, tenant text not null, at timestamptz not null);
`;

/** Ids of deleted tenants; those of before are in the log of the configuration. */
const RETIRED_TENANTS = `
create table retired_tenants (id text primary key, at timestamptz not null);
insert into retired_tenants (id, at)
select change ->> 'id', max(config_log.at) from config_log, jsonb_array_elements(changes) as change
where change ->> 'table' = 'tenants' and not change ? 'value' group by 1;
`;

/** Sign-ins are slowed down in memory; no account is locked. */
const NO_LOCKS = ['users', 'operators']
  .map((table) => `alter table ${table} drop column failed_attempts, drop column locked_until;`)
  .join('\n');

/** Records that could not be stored or published, and what finds old rows. */
const PUT_ASIDE = `
create table put_aside (
  id text primary key, source text not null, reason text not null, body bytea not null, at timestamptz not null
);
create index put_aside_newest on put_aside (at desc, id desc);
alter table event_outbox add column refused integer not null default 0;
create index alerts_ended on alerts (ended_at) where ended_at is not null;
create index webhook_deliveries_age on webhook_deliveries (created_at) where state <> 'waiting';
create index sessions_expired on sessions (expires_at);
`;

export const MIGRATIONS: readonly Migration[] = [
  { id: '0001-configuration', sql: CONFIGURATION },
  { id: '0002-events', sql: EVENTS },
  { id: '0003-ledger', sql: LEDGER },
  { id: '0004-rollups', sql: rollup('hour') + rollup('day') },
  { id: '0005-ledger-append-only', sql: LEDGER_APPEND_ONLY },
  { id: '0006-wide-epochs', sql: WIDE_EPOCHS },
  { id: '0007-outbox-confirmed', sql: OUTBOX_CONFIRMED },
  { id: '0008-rollups-by-key', sql: rollupByKey('hour') + rollupByKey('day') },
  { id: '0009-operators', sql: OPERATORS },
  { id: '0010-tenant-console', sql: TENANT_CONSOLE },
  { id: '0011-retired-tenants', sql: RETIRED_TENANTS },
  { id: '0012-no-locks', sql: NO_LOCKS },
  { id: '0013-put-aside', sql: PUT_ASIDE },
];
