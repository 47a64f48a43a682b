import {
  AlertsView,
  DeliveriesView,
  NewWebhookView,
  TenantAlerts,
  TenantDeliveries,
  TenantNewWebhook,
  TenantWebhook,
  TenantWebhooks,
  WebhookRequest,
  WebhooksView,
  WebhookView,
} from '@sluice/contracts';
import { z } from 'zod';
import {
  projectAlerts,
  projectDeliveries,
  projectNewWebhook,
  projectWebhook,
  projectWebhooks,
} from '../views/alert-view.ts';
import { ThingId } from './access-routes.ts';
import { AlertsQuery, NoQuery } from './query.ts';
import { done, missing, shown, type ScopedCall, type ScopedRoute } from './scoped-route.ts';

/** Path of the webhook that a call names; undefined for what is no id. */
function webhookPath({ params }: ScopedCall, below = ''): string | undefined {
  const id = ThingId.safeParse(params['webhookId']);
  return id.success ? `/webhooks/${id.data}${below}` : undefined;
}

const asked = (body: unknown): WebhookRequest => {
  const { url, kinds, enabled } = body as WebhookRequest;
  return { url, kinds, enabled };
};

export const ALERT_ROUTES: readonly ScopedRoute[] = [
  {
    method: 'get',
    path: '/api/alerts',
    summary: 'Alerts, newest first',
    permission: 'usage:read',
    query: AlertsQuery,
    view: AlertsView,
    async answer(controlPlane, { scope, query }) {
      const found = await controlPlane.read(TenantAlerts, scope, '/alerts', query);
      return found === undefined ? missing : shown(projectAlerts(found.value));
    },
  },
  {
    method: 'get',
    path: '/api/webhooks',
    summary: 'Where alerts are sent',
    permission: 'policy:write',
    query: NoQuery,
    view: WebhooksView,
    async answer(controlPlane, { scope }) {
      const found = await controlPlane.read(TenantWebhooks, scope, '/webhooks');
      return found === undefined ? missing : shown(projectWebhooks(found.value));
    },
  },
  {
    method: 'post',
    path: '/api/webhooks',
    summary: 'Adds a webhook; the answer is the only time its secret is shown',
    permission: 'policy:write',
    query: NoQuery,
    body: WebhookRequest,
    status: 201,
    view: NewWebhookView,
    async answer(controlPlane, { scope, body }) {
      const made = await controlPlane.change(TenantNewWebhook, scope, {
        method: 'POST',
        path: '/webhooks',
        body: asked(body),
      });
      return made.kind === 'done' ? shown(projectNewWebhook(made.value)) : missing;
    },
  },
  {
    method: 'put',
    path: '/api/webhooks/:webhookId',
    summary: 'Changes a webhook',
    permission: 'policy:write',
    query: NoQuery,
    body: WebhookRequest,
    view: WebhookView,
    async answer(controlPlane, call) {
      const path = webhookPath(call);
      if (path === undefined) return missing;
      const changed = await controlPlane.change(TenantWebhook, call.scope, {
        method: 'PUT',
        path,
        body: asked(call.body),
      });
      return changed.kind === 'done' ? shown(projectWebhook(changed.value)) : missing;
    },
  },
  {
    method: 'delete',
    path: '/api/webhooks/:webhookId',
    summary: 'Removes a webhook and its log',
    permission: 'policy:write',
    query: NoQuery,
    status: 204,
    async answer(controlPlane, call) {
      const path = webhookPath(call);
      return path !== undefined &&
        (await controlPlane.change(z.unknown(), call.scope, { method: 'DELETE', path })).kind === 'done'
        ? done
        : missing;
    },
  },
  {
    method: 'get',
    path: '/api/webhooks/:webhookId/deliveries',
    summary: 'What was sent, and how it went',
    permission: 'policy:write',
    query: NoQuery,
    view: DeliveriesView,
    async answer(controlPlane, call) {
      const path = webhookPath(call, '/deliveries');
      const found = path === undefined ? undefined : await controlPlane.read(TenantDeliveries, call.scope, path);
      return found === undefined ? missing : shown(projectDeliveries(found.value));
    },
  },
  {
    method: 'post',
    path: '/api/webhooks/:webhookId/test',
    summary: 'Sends a test alert now; the answer is its row of the log',
    permission: 'policy:write',
    query: NoQuery,
    view: DeliveriesView,
    async answer(controlPlane, call) {
      const path = webhookPath(call, '/test');
      if (path === undefined) return missing;
      const sent = await controlPlane.change(TenantDeliveries, call.scope, { method: 'POST', path });
      return sent.kind === 'done' ? shown(projectDeliveries(sent.value)) : missing;
    },
  },
];
