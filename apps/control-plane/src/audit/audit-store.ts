import { sql } from 'drizzle-orm';
import type { AuditEvent } from '@sluice/contracts';
import { AuditRow, type AuditLog } from '../api/ports.ts';
import type { Executor } from '../db/open-database.ts';
import { decodeCursor, encodeCursor } from '../ledger/ledger-cursor.ts';

export interface AuditStore extends AuditLog {
  /** Adds those that are not held yet, and ends the outbox's care for all of them, in one statement. */
  insert(events: readonly AuditEvent[]): Promise<void>;
}

const DEFINITION = sql.raw(
  'event_id text, occurred_at timestamptz, type text, actor jsonb, target jsonb, tenant_id text, workspace text, before jsonb, after jsonb, reason text',
);

/** The table `audit_log`; only the audit consumer writes it. */
export function createAuditStore(deps: { db: Executor }): AuditStore {
  const { db } = deps;
  return {
    insert: async (events) => {
      await db.execute(sql`
        with arrived as (select * from jsonb_to_recordset(${JSON.stringify(events)}::jsonb) as a(${DEFINITION})),
        stored as (
          insert into audit_log (event_id, occurred_at, type, actor, target, tenant_id, workspace, before, after, reason)
          select * from arrived order by event_id on conflict do nothing
        )
        delete from event_outbox where event_id in (select event_id from arrived)`);
    },
    rows: async ({ tenant, workspace, actor, action, from, to, limit, cursor }) => {
      const conditions = [sql`true`];
      if (tenant !== undefined) conditions.push(sql`tenant_id = ${tenant}`);
      if (workspace !== undefined) conditions.push(sql`workspace = ${workspace}`);
      if (actor !== undefined) conditions.push(sql`actor ->> 'id' = ${actor}`);
      if (action !== undefined)
        conditions.push(action.includes('.') ? sql`type = ${action}` : sql`starts_with(type, ${`${action}.`})`);
      if (from !== undefined) conditions.push(sql`occurred_at >= ${from}::timestamptz`);
      if (to !== undefined) conditions.push(sql`occurred_at < ${to}::timestamptz`);
      if (cursor !== undefined) {
        const { at, eventId } = decodeCursor(cursor);
        conditions.push(sql`(occurred_at, event_id) < (${at}::timestamptz, ${eventId})`);
      }
      const found = await db.execute(sql`
        select event_id, to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as occurred_at,
          type, actor, target, tenant_id, workspace, before, after, reason
        from audit_log where ${sql.join(conditions, sql` and `)} order by audit_log.occurred_at desc, event_id desc limit ${limit + 1}`);
      const rows = AuditRow.array().parse(found.rows);
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        // Callers see milliseconds; the cursor compares what the database holds.
        rows: page.map((row) => ({ ...row, occurred_at: row.occurred_at.replace(/(\.\d{3})\d{3}Z$/, '$1Z') })),
        next_cursor:
          rows.length > limit && last !== undefined
            ? encodeCursor({ at: last.occurred_at, eventId: last.event_id })
            : null,
      };
    },
  };
}
