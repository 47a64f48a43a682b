import { randomUUID } from 'node:crypto';
import { sql, type SQL } from 'drizzle-orm';
import type { AlertKind, DeliveriesView, WebhookPayload, WebhookRequest, WebhookView } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { AuditInput } from '../config/config-repository.ts';
import type { Db, Executor } from '../db/open-database.ts';

const SWITCHED_OFF = 'the webhook was switched off';

export interface WebhookScope {
  readonly workspace: string;
  readonly tenant: string;
  readonly actor: AuditInput['actor'];
}

/** A delivery that is due, with where it goes. */
export interface DueDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly tenant: string;
  readonly url: string;
  readonly alertId: string;
  readonly body: string;
  /** Attempts before this one. */
  readonly attempts: number;
}

/** How an attempt ended; `retryAtMs` undefined when none follows. */
export interface AttemptEnd {
  readonly delivered: boolean;
  readonly status: number | null;
  readonly error: string | null;
  readonly retryAtMs: number | undefined;
}

/**
 * Webhooks of workspaces and what was sent to them. Changes are audited in the same transaction, without the path
 * and query of the address.
 */
export interface WebhookStore {
  list(workspace: string): Promise<WebhookView[]>;
  /** @throws ProblemError 409 beyond `MAX_WEBHOOKS`. */
  create(scope: WebhookScope, webhook: WebhookRequest, nowMs: number): Promise<WebhookView>;
  update(scope: WebhookScope, id: string, webhook: WebhookRequest): Promise<WebhookView | undefined>;
  remove(scope: WebhookScope, id: string): Promise<boolean>;
  /** Undefined when the workspace has no such webhook. */
  deliveries(workspace: string, id: string): Promise<DeliveriesView | undefined>;
  /**
   * Leaves a test delivery; its id. Undefined when the workspace has no such webhook.
   * @throws ProblemError 409 within `TEST_EVERY_MS` of the last one.
   */
  addTest(workspace: string, id: string, nowMs: number): Promise<string | undefined>;
  /**
   * Takes deliveries that are due, or the one that is named, for as long as the lease; nobody else gets them
   * meanwhile. At most 20, four of a tenant, and none of the tenants `without`, so that receivers that are slow
   * hold up those of their own tenant only.
   */
  take(
    nowMs: number,
    leaseMs: number,
    which?: { readonly only: string } | { readonly without: readonly string[] },
  ): Promise<DueDelivery[]>;
  ended(id: string, end: AttemptEnd, nowMs: number): Promise<void>;
}

/** Alert ids of tests begin so. */
export const TEST_ID_PREFIX = 'test_';
export const MAX_WEBHOOKS = 10;
/** A person may let this machine call a webhook so often. */
export const TEST_EVERY_MS = 10_000;
const DELIVERIES_SHOWN = 100;
const TAKEN_AT_ONCE = 20;
/** Receivers that hang hold back no other tenant's deliveries. */
export const TAKEN_OF_A_TENANT = 4;
const instant = (column: string) => sql.raw(`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);
const at = (ms: number): SQL => sql`${new Date(ms).toISOString()}::timestamptz`;

type Row = {
  id: string;
  url: string;
  kinds: AlertKind[] | null;
  enabled: boolean;
  created_at: string;
  last_at: string | null;
  last_state: 'waiting' | 'delivered' | 'failed' | null;
  last_status: number | null;
};

const SELECT = sql`
  select w.id, w.url, w.kinds, w.enabled, ${instant('w.created_at')} as created_at, ${instant('d.created_at')} as last_at, d.state as last_state, d.status as last_status
  from webhooks w left join lateral (select created_at, state, status from webhook_deliveries where webhook_id = w.id order by created_at desc limit 1) d on true`;

function toView(row: Row): WebhookView {
  return {
    webhook_id: row.id,
    url: row.url,
    kinds: row.kinds,
    enabled: row.enabled,
    created_at: row.created_at,
    last_delivery:
      row.last_at === null || row.last_state === null
        ? null
        : { at: row.last_at, state: row.last_state, status: row.last_status },
  };
}

export function createPostgresWebhookStore(deps: {
  db: Db;
  recordAudit: (tx: Executor, input: AuditInput) => Promise<unknown>;
}): WebhookStore {
  const { db, recordAudit } = deps;
  const find = async (on: Executor, workspace: string, id: string): Promise<WebhookView | undefined> => {
    const found = await on.execute<Row>(sql`${SELECT} where w.workspace = ${workspace} and w.id = ${id}`);
    return found.rows[0] === undefined ? undefined : toView(found.rows[0]);
  };
  const record = (
    tx: Executor,
    scope: WebhookScope,
    type: string,
    id: string,
    change: { before?: unknown; after?: unknown },
  ): Promise<unknown> =>
    recordAudit(tx, {
      type,
      actor: scope.actor,
      target: { kind: 'webhook', id },
      tenant_id: scope.tenant,
      workspace: scope.workspace,
      ...change,
    });

  return {
    list: async (workspace) =>
      (await db.execute<Row>(sql`${SELECT} where w.workspace = ${workspace} order by w.created_at, w.id`)).rows.map(
        toView,
      ),
    create: (scope, { url, kinds, enabled }, nowMs) =>
      db.transaction(async (tx) => {
        await tx.execute(sql`select pg_advisory_xact_lock(hashtext(${`webhooks ${scope.workspace}`}))`);
        const count = await tx.execute<{ count: string }>(
          sql`select count(*)::text as count from webhooks where workspace = ${scope.workspace}`,
        );
        if (Number(count.rows[0]?.count) >= MAX_WEBHOOKS)
          throw new ProblemError(409, 'Too many webhooks', { detail: `A workspace has at most ${MAX_WEBHOOKS}.` });
        const id = `wh_${randomUUID()}`;
        await tx.execute(sql`
          insert into webhooks (id, tenant_id, workspace, url, kinds, enabled, created_at)
          values (${id}, ${scope.tenant}, ${scope.workspace}, ${url}, ${kinds === null ? null : JSON.stringify(kinds)}::jsonb, ${enabled}, ${at(nowMs)})`);
        await record(tx, scope, 'webhook.created', id, { after: shown(url, kinds, enabled) });
        const made = await find(tx, scope.workspace, id);
        if (made === undefined) throw new Error('a webhook is gone in the transaction that made it');
        return made;
      }),
    update: (scope, id, { url, kinds, enabled }) =>
      db.transaction(async (tx) => {
        const before = await find(tx, scope.workspace, id);
        if (before === undefined) return undefined;
        await tx.execute(sql`
          update webhooks set url = ${url}, kinds = ${kinds === null ? null : JSON.stringify(kinds)}::jsonb, enabled = ${enabled} where workspace = ${scope.workspace} and id = ${id}`);
        if (!enabled)
          await tx.execute(
            sql`update webhook_deliveries set state = 'failed', error = ${SWITCHED_OFF} where webhook_id = ${id} and state = 'waiting'`,
          );
        await record(tx, scope, 'webhook.changed', id, {
          before: shown(before.url, before.kinds, before.enabled),
          after: shown(url, kinds, enabled),
        });
        return find(tx, scope.workspace, id);
      }),
    remove: (scope, id) =>
      db.transaction(async (tx) => {
        const gone = await tx.execute<{ url: string }>(
          sql`delete from webhooks where workspace = ${scope.workspace} and id = ${id} returning url`,
        );
        if (gone.rows[0] === undefined) return false;
        await record(tx, scope, 'webhook.removed', id, { before: { origin: originOf(gone.rows[0].url) } });
        return true;
      }),
    deliveries: async (workspace, id) => {
      if ((await find(db, workspace, id)) === undefined) return undefined;
      const found = await db.execute<DeliveriesView['rows'][number]>(sql`
        select id as delivery_id, kind, ${instant('created_at')} as created_at, state, attempts, case when state = 'waiting' then ${instant('due_at')} end as next_attempt_at, status, error
        from webhook_deliveries where webhook_id = ${id} and workspace = ${workspace} order by webhook_deliveries.created_at desc, id limit ${DELIVERIES_SHOWN}`);
      return { rows: found.rows };
    },
    addTest: async (workspace, id, nowMs) => {
      if ((await find(db, workspace, id)) === undefined) return undefined;
      const alertId = `${TEST_ID_PREFIX}${randomUUID()}`;
      const payload: WebhookPayload = {
        id: alertId,
        kind: 'webhook.test',
        workspace,
        severity: 'info',
        subject: 'test',
        message: 'This is a test of the webhook.',
        raised_at: new Date(nowMs).toISOString(),
        ended_at: null,
      };
      return db.transaction(async (tx) => {
        await tx.execute(sql`select pg_advisory_xact_lock(hashtext(${`webhook test ${id}`}))`);
        const recent = await tx.execute(
          sql`select 1 from webhook_deliveries where webhook_id = ${id} and kind = 'webhook.test' and created_at > ${at(nowMs - TEST_EVERY_MS)} limit 1`,
        );
        if (recent.rows.length > 0)
          throw new ProblemError(409, 'A test was sent just now', {
            detail: `Wait ${TEST_EVERY_MS / 1000} s between two tests of a webhook.`,
          });
        const made = await tx.execute<{ id: string }>(sql`
          insert into webhook_deliveries (id, webhook_id, workspace, alert_id, kind, body, created_at, state, due_at)
          values ('dlv_' || gen_random_uuid(), ${id}, ${workspace}, ${alertId}, 'webhook.test', ${JSON.stringify(payload)}, ${at(nowMs)}, 'waiting', ${at(nowMs)}) returning id`);
        return made.rows[0]?.id;
      });
    },
    take: async (nowMs, leaseMs, which = { without: [] }) => {
      const due = sql`d.state = 'waiting' and d.due_at <= ${at(nowMs)}`;
      const wanted =
        'only' in which
          ? sql`d.id = ${which.only}`
          : sql`d.id in (
              select id from (
                select d.id, d.due_at, row_number() over (partition by w.tenant_id order by d.due_at, d.id) as place from webhook_deliveries d join webhooks w on w.id = d.webhook_id
                where ${due} and w.tenant_id <> all(${sql.param(which.without)}::text[])
              ) ranked where place <= ${TAKEN_OF_A_TENANT} order by due_at limit ${TAKEN_AT_ONCE})`;
      const found = await db.execute<{
        id: string;
        webhook_id: string;
        tenant_id: string;
        url: string;
        alert_id: string;
        body: string;
        attempts: number;
      }>(sql`
        update webhook_deliveries d set due_at = ${at(nowMs + leaseMs)}, attempts = d.attempts + 1 from webhooks w
        where w.id = d.webhook_id and d.id in (select d.id from webhook_deliveries d where ${due} and ${wanted} for update skip locked)
        returning d.id, d.webhook_id, w.tenant_id, w.url, d.alert_id, d.body, d.attempts`);
      return found.rows.map((row) => ({
        id: row.id,
        webhookId: row.webhook_id,
        tenant: row.tenant_id,
        url: row.url,
        alertId: row.alert_id,
        body: row.body,
        attempts: row.attempts - 1,
      }));
    },
    ended: async (id, { delivered, status, error, retryAtMs }, nowMs) => {
      const state = delivered ? 'delivered' : retryAtMs === undefined ? 'failed' : 'waiting';
      await db.execute(
        sql`update webhook_deliveries set state = ${state}, status = ${status}, error = ${error}, due_at = ${at(retryAtMs ?? nowMs)} where id = ${id} and (state = 'waiting' or ${delivered})`,
      );
    },
  };
}

/** Paths and queries of webhooks often hold a secret of the receiver's. */
function originOf(url: string): string {
  return new URL(url).origin;
}

const shown = (url: string, kinds: AlertKind[] | null, enabled: boolean) => ({ origin: originOf(url), kinds, enabled });
