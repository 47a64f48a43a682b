import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import type { AlertKind, AlertsView, WebhookPayload } from '@sluice/contracts';
import type { Db } from '../db/open-database.ts';
import { decodeCursor, encodeCursor } from '../ledger/ledger-cursor.ts';
import { REFUSALS_WITHIN_MS, type Condition, type RecentRefusals } from './conditions.ts';

export interface AlertScope {
  readonly tenant: string;
  readonly workspace: string;
}

/** Alerts of workspaces. A case is told once: while it lasts, and after it has ended, it is not raised again. */
export interface AlertStore {
  /**
   * Raises what is new of the conditions, ends what is over, and leaves a delivery for every webhook that wants it;
   * one transaction.
   */
  update(
    scope: AlertScope,
    conditions: readonly Condition[],
    nowMs: number,
  ): Promise<{ raised: number; ended: number }>;
  list(workspace: string, page: { limit: number; cursor?: string | undefined }): Promise<AlertsView>;
  /** How many are open, `info` left out. */
  open(workspace: string): Promise<number>;
  /** Refusals of the last minute by kind and limit. */
  refusals(workspace: string, nowMs: number): Promise<RecentRefusals[]>;
}

interface AlertRow extends Record<string, unknown> {
  id: string;
  kind: AlertKind;
  severity: 'info' | 'warning' | 'critical';
  subject: string;
  message: string;
  raised_at: string;
  ended_at: string | null;
  at: string;
}

const instant = (column: string, digits = 'MS') =>
  sql.raw(`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.${digits}"Z"')`);

export function createPostgresAlertStore({ db }: { db: Db }): AlertStore {
  return {
    update: (scope, conditions, nowMs) =>
      db.transaction(async (tx) => {
        const now = new Date(nowMs).toISOString();
        const keys = JSON.stringify(conditions.map(({ dedupe }) => dedupe));
        const ended = await tx.execute(sql`
          update alerts set ended_at = ${now}::timestamptz where workspace = ${scope.workspace} and ended_at is null and not jsonb_exists(${keys}::jsonb, dedupe) returning id`);
        // The same case that is back before it was over for good goes on.
        await tx.execute(
          sql`update alerts set ended_at = null where workspace = ${scope.workspace} and ended_at is not null and jsonb_exists(${keys}::jsonb, dedupe)`,
        );
        let raised = 0;
        for (const { kind, severity, subject, message, dedupe } of conditions) {
          const id = `alert_${randomUUID()}`;
          const made = await tx.execute(sql`
            insert into alerts (id, tenant_id, workspace, kind, severity, subject, message, dedupe, raised_at)
            values (${id}, ${scope.tenant}, ${scope.workspace}, ${kind}, ${severity}, ${subject}, ${message}, ${dedupe}, ${now}::timestamptz) on conflict do nothing returning id`);
          if (made.rows.length === 0) continue;
          raised += 1;
          const payload: WebhookPayload = {
            id,
            kind,
            workspace: scope.workspace,
            severity,
            subject,
            message,
            raised_at: now,
            ended_at: null,
          };
          await tx.execute(sql`
            insert into webhook_deliveries (id, webhook_id, workspace, alert_id, kind, body, created_at, state, due_at)
            select 'dlv_' || gen_random_uuid(), id, workspace, ${id}, ${kind}, ${JSON.stringify(payload)}, ${now}::timestamptz, 'waiting', ${now}::timestamptz
            from webhooks where workspace = ${scope.workspace} and enabled and (kinds is null or jsonb_exists(kinds, ${kind})) on conflict do nothing`);
        }
        return { raised, ended: ended.rows.length };
      }),
    list: async (workspace, { limit, cursor }) => {
      const after = cursor === undefined ? undefined : decodeCursor(cursor);
      const older =
        after === undefined ? sql`true` : sql`(alerts.raised_at, id) < (${after.at}::timestamptz, ${after.eventId})`;
      const found = await db.execute<AlertRow>(sql`
        select id, kind, severity, subject, message, ${instant('raised_at')} as raised_at, ${instant('ended_at')} as ended_at, ${instant('raised_at', 'US')} as at
        from alerts where workspace = ${workspace} and ${older} order by alerts.raised_at desc, id desc limit ${limit + 1}`);
      const rows = found.rows.slice(0, limit);
      const last = rows.at(-1);
      return {
        rows: rows.map((row) => ({
          alert_id: row.id,
          kind: row.kind,
          severity: row.severity,
          subject: row.subject,
          message: row.message,
          raised_at: row.raised_at,
          ended_at: row.ended_at,
        })),
        next_cursor:
          found.rows.length > limit && last !== undefined ? encodeCursor({ at: last.at, eventId: last.id }) : null,
      };
    },
    open: async (workspace) => {
      const found = await db.execute<{ count: string }>(
        sql`select count(*)::text as count from alerts where workspace = ${workspace} and ended_at is null and severity <> 'info'`,
      );
      return Number(found.rows[0]?.count ?? 0);
    },
    refusals: async (workspace, nowMs) => {
      const since = new Date(nowMs - REFUSALS_WITHIN_MS).toISOString();
      const found = await db.execute<{ type: RecentRefusals['kind']; subject: string; count: string }>(sql`
        select type, subject, sum(count)::text as count from anomalies
        where workspace = ${workspace} and occurred_at >= ${since}::timestamptz and type in ('refusals.throttled', 'refusals.shed', 'refusals.quota') group by type, subject`);
      return found.rows.map((row) => ({ kind: row.type, subject: row.subject, count: Number(row.count) }));
    },
  };
}
