/**
 * Append-only, corrections, and the indexes of a ledger of many millions of rows. What earlier schemas wrote stays
 * as it is: every row of theirs is a call.
 *
 * `ledger_partition` replaces the function of 0003: rows that a default partition holds of the new month are moved
 * while it is detached, where the guard does not reach.
 */
export const LEDGER_APPEND_ONLY = `
alter table ledger add column kind text not null default 'call', add column corrects text, add column reason text;
alter table ledger add constraint ledger_kind check (
  (kind = 'call' and corrects is null and reason is null) or (kind = 'correction' and corrects is not null and reason is not null)
);

create function ledger_refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the ledger is append-only: % of % is refused; record a correction instead', lower(tg_op), tg_table_name
    using errcode = 'object_not_in_prerequisite_state';
end $$;
create trigger ledger_append_only before update or delete on ledger for each row execute function ledger_refuse_change();
create trigger ledger_no_truncate before truncate on ledger for each statement execute function ledger_refuse_change();
do $$
declare part regclass;
begin
  for part in select inhrelid::regclass from pg_inherits where inhparent = 'ledger'::regclass loop
    execute format('create trigger ledger_no_truncate before truncate on %s for each statement execute function ledger_refuse_change()', part);
  end loop;
end $$;

create or replace function ledger_partition(month timestamptz) returns void language plpgsql as $$
declare
  first timestamptz := date_trunc('month', month at time zone 'UTC') at time zone 'UTC';
  after timestamptz := (date_trunc('month', month at time zone 'UTC') + interval '1 month') at time zone 'UTC';
  part text := 'ledger_' || to_char(month at time zone 'UTC', 'YYYY_MM');
  held boolean;
begin
  if to_regclass(part) is not null then return; end if;
  execute format('create table %I (like ledger including defaults including constraints)', part);
  select exists (select from ledger_default where occurred_at >= first and occurred_at < after) into held;
  if held then
    alter table ledger detach partition ledger_default;
    execute format('with moved as (delete from ledger_default where occurred_at >= %L and occurred_at < %L returning *) insert into %I select * from moved', first, after, part);
  end if;
  execute format('alter table ledger attach partition %I for values from (%L) to (%L)', part, first, after);
  execute format('create trigger ledger_no_truncate before truncate on %I for each statement execute function ledger_refuse_change()', part);
  if held then alter table ledger attach partition ledger_default default; end if;
end $$;

create index ledger_unwell on ledger (workspace, outcome, occurred_at desc, event_id desc) where outcome <> 'ok';
create index rollup_hour_tenant on rollup_hour (tenant_id, bucket);
create index rollup_day_tenant on rollup_day (tenant_id, bucket);
`;
