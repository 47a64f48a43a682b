import { z } from 'zod';
import {
  AlertsView,
  DeliveriesView,
  NewWebhookView,
  WebhookRequest,
  WebhooksView,
  WebhookView,
  type Clock,
} from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import { actorOf, param } from '../api/actor.ts';
import { route, type Route, type RouteCall } from '../api/route.ts';
import type { ConfigStore } from '../config/config-store.ts';
import { admit } from '../tenant/admit.ts';
import { checkTarget, type Resolve } from '../webhooks/address-guard.ts';
import type { Deliverer } from '../webhooks/deliverer.ts';
import { webhookSecret } from '../webhooks/signature.ts';
import type { WebhookScope, WebhookStore } from '../webhooks/webhook-store.ts';
import type { AlertStore } from './alert-store.ts';

const PREFIX = '/internal/workspaces/:slug';
const Page = z.strictObject({
  limit: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(1).max(200))
    .default(50),
  cursor: z.string().min(1).max(600).optional(),
});

export interface AlertRouteDeps {
  readonly store: ConfigStore;
  readonly alerts: AlertStore;
  readonly webhooks: WebhookStore;
  readonly deliverer: Deliverer;
  readonly resolve: Resolve;
  readonly allowLoopback: boolean;
  /** Secrets of webhooks are derived from it. */
  readonly masterKey: string;
  readonly clock: Pick<Clock, 'now'>;
}

/** Alerts of a workspace and where they are sent. */
export function alertRoutes({
  store,
  alerts,
  webhooks,
  deliverer,
  resolve,
  allowLoopback,
  masterKey,
  clock,
}: AlertRouteDeps): Route[] {
  const scopeOf = (call: RouteCall<unknown, unknown>): WebhookScope => {
    const { workspace, tenant } = admit(store, call, 'policy:write');
    return { workspace: workspace.slug, tenant: tenant.id, actor: actorOf(call) };
  };
  const requireTarget = async ({ url }: WebhookRequest): Promise<void> => {
    const target = await checkTarget(new URL(url), { resolve, allowLoopback });
    if ('refused' in target)
      throw new ProblemError(400, 'The request body is not valid', {
        errors: [{ path: 'url', message: target.refused }],
      });
  };
  const found = <T>(value: T | undefined): T => {
    if (value === undefined) throw new ProblemError(404, 'Not found');
    return value;
  };
  const base = { auth: 'person', tag: 'Alerts' } as const;
  return [
    route({
      ...base,
      method: 'get',
      path: `${PREFIX}/alerts`,
      summary: 'Alerts, newest first',
      query: Page,
      response: AlertsView,
      handler: (call) => alerts.list(admit(store, call, 'usage:read').workspace.slug, call.query),
    }),
    route({
      ...base,
      method: 'get',
      path: `${PREFIX}/webhooks`,
      summary: 'Where alerts are sent',
      response: WebhooksView,
      handler: async (call) => ({ rows: await webhooks.list(scopeOf(call).workspace) }),
    }),
    route({
      ...base,
      method: 'post',
      path: `${PREFIX}/webhooks`,
      summary: 'Add a webhook; the answer is the only time that its secret is shown',
      status: 201,
      body: WebhookRequest,
      response: NewWebhookView,
      handler: async (call) => {
        const scope = scopeOf(call);
        await requireTarget(call.body);
        const made = await webhooks.create(scope, call.body, clock.now());
        return { ...made, secret: webhookSecret(masterKey, made.webhook_id) };
      },
    }),
    route({
      ...base,
      method: 'put',
      path: `${PREFIX}/webhooks/:webhookId`,
      summary: 'Change a webhook',
      body: WebhookRequest,
      response: WebhookView,
      handler: async (call) => {
        const scope = scopeOf(call);
        const id = param(call, 'webhookId');
        found((await webhooks.list(scope.workspace)).find(({ webhook_id }) => webhook_id === id));
        await requireTarget(call.body);
        return found(await webhooks.update(scope, id, call.body));
      },
    }),
    route({
      ...base,
      method: 'delete',
      path: `${PREFIX}/webhooks/:webhookId`,
      summary: 'Remove a webhook and its log',
      status: 204,
      handler: async (call) => {
        if (!(await webhooks.remove(scopeOf(call), param(call, 'webhookId')))) throw new ProblemError(404, 'Not found');
      },
    }),
    route({
      ...base,
      method: 'get',
      path: `${PREFIX}/webhooks/:webhookId/deliveries`,
      summary: 'What was sent, and how it went',
      response: DeliveriesView,
      handler: async (call) => found(await webhooks.deliveries(scopeOf(call).workspace, param(call, 'webhookId'))),
    }),
    route({
      ...base,
      method: 'post',
      path: `${PREFIX}/webhooks/:webhookId/test`,
      summary: 'Send a test alert now; the answer is its row of the log',
      response: DeliveriesView,
      handler: async (call): Promise<DeliveriesView> => {
        const { workspace } = scopeOf(call);
        const webhookId = param(call, 'webhookId');
        const id = found(await webhooks.addTest(workspace, webhookId, clock.now()));
        await deliverer.deliver(id);
        const log = found(await webhooks.deliveries(workspace, webhookId));
        return { rows: log.rows.filter(({ delivery_id }) => delivery_id === id) };
      },
    }),
  ];
}
