import { sql } from 'drizzle-orm';
import type { AuditEvent } from '@sluice/contracts';
import { AuditRow, type AuditLog } from '../api/ports.ts';
import type { Executor } from '../db/open-database.ts';

export interface AuditStore extends AuditLog {
  /** Adds those that are not held yet. */
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
        insert into audit_log (event_id, occurred_at, type, actor, target, tenant_id, workspace, before, after, reason)
        select * from jsonb_to_recordset(${JSON.stringify(events)}::jsonb) as a(${DEFINITION}) order by event_id
        on conflict do nothing`);
    },
    rows: async ({ tenant, before, limit }) => {
      const conditions = [sql`true`];
      if (tenant !== undefined) conditions.push(sql`tenant_id = ${tenant}`);
      if (before !== undefined) conditions.push(sql`occurred_at < ${before}::timestamptz`);
      const found = await db.execute(sql`
        select event_id, to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as occurred_at,
          type, actor, target, tenant_id, workspace, before, after, reason
        from audit_log where ${sql.join(conditions, sql` and `)} order by audit_log.occurred_at desc, event_id desc limit ${limit}`);
      return AuditRow.array().parse(found.rows);
    },
  };
}
