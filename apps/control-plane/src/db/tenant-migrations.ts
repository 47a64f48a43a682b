/** What the tenants' own console stands on: invitations, webhooks, alerts, and indexes of what it asks for. */
export const TENANT_CONSOLE = `
create index if not exists anomalies_workspace on anomalies (workspace, occurred_at desc, event_id desc);
create index if not exists config_log_rows on config_log using gin (changes jsonb_path_ops);
create index if not exists ledger_corrections on ledger (tenant_id, occurred_at) where kind = 'correction';
create index if not exists users_roles on users using gin (roles);

create table invitations (
  id text primary key, token_digest text not null unique, workspace text not null, tenant_id text not null, email text not null, role text not null,
  invited_by text not null, created_at timestamptz not null, expires_at timestamptz not null
);
create unique index invitations_once on invitations (workspace, email);

create table alerts (
  id text primary key, tenant_id text not null, workspace text not null, kind text not null, severity text not null, subject text not null, message text not null,
  dedupe text not null, raised_at timestamptz not null, ended_at timestamptz
);
create unique index alerts_once on alerts (workspace, dedupe);
create index alerts_newest on alerts (workspace, raised_at desc, id desc);
create index alerts_open on alerts (workspace) where ended_at is null;

create table webhooks (
  id text primary key, tenant_id text not null, workspace text not null, url text not null, kinds jsonb, enabled boolean not null,
  created_at timestamptz not null
);
create index webhooks_workspace on webhooks (workspace, created_at);

create table webhook_deliveries (
  id text primary key, webhook_id text not null references webhooks (id) on delete cascade, workspace text not null, alert_id text not null, kind text not null,
  body text not null, created_at timestamptz not null, state text not null, attempts integer not null default 0, due_at timestamptz not null,
  status integer, error text
);
create unique index webhook_deliveries_once on webhook_deliveries (webhook_id, alert_id);
create index webhook_deliveries_due on webhook_deliveries (due_at) where state = 'waiting';
create index webhook_deliveries_newest on webhook_deliveries (webhook_id, created_at desc);
`;
