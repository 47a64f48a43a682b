import type { AlertsView, DeliveriesView, NewWebhookView, WebhooksView, WebhookView } from '@sluice/contracts';

export function projectAlerts(from: AlertsView): AlertsView {
  return {
    rows: from.rows.map((a) => ({
      alert_id: a.alert_id,
      kind: a.kind,
      severity: a.severity,
      subject: a.subject,
      message: a.message,
      raised_at: a.raised_at,
      ended_at: a.ended_at,
    })),
    next_cursor: from.next_cursor,
  };
}

export function projectWebhook(from: WebhookView): WebhookView {
  const last = from.last_delivery;
  return {
    webhook_id: from.webhook_id,
    url: from.url,
    kinds: from.kinds === null ? null : [...from.kinds],
    enabled: from.enabled,
    created_at: from.created_at,
    last_delivery: last === null ? null : { at: last.at, state: last.state, status: last.status },
  };
}

export const projectWebhooks = (from: WebhooksView): WebhooksView => ({ rows: from.rows.map(projectWebhook) });
export const projectNewWebhook = (from: NewWebhookView): NewWebhookView => ({
  ...projectWebhook(from),
  secret: from.secret,
});

export function projectDeliveries(from: DeliveriesView): DeliveriesView {
  return {
    rows: from.rows.map((d) => ({
      delivery_id: d.delivery_id,
      kind: d.kind,
      created_at: d.created_at,
      state: d.state,
      attempts: d.attempts,
      next_attempt_at: d.next_attempt_at,
      status: d.status,
      error: d.error,
    })),
  };
}
