import { z } from 'zod';
import { Instant } from '../ids.ts';

/** What a customer is told of. */
export const ALERT_KINDS = [
  'budget.80',
  'budget.100',
  'quota.low',
  'overage_cap.80',
  'overage_cap.100',
  'kill_switch',
  'key.expiring',
  'model.retiring',
  'refusals.throttled',
  'refusals.shed',
  'refusals.quota',
  'webhook.test',
] as const;
export const AlertKind = z.enum(ALERT_KINDS);
export type AlertKind = z.infer<typeof AlertKind>;

/** `GET /api/alerts?cursor=&limit=`, newest first. */
export const AlertsView = z.strictObject({
  rows: z.array(
    z.strictObject({
      alert_id: z.string(),
      kind: AlertKind,
      severity: z.enum(['info', 'warning', 'critical']),
      /** What it is about: a quota, a key, a model. */
      subject: z.string(),
      message: z.string(),
      raised_at: Instant,
      /** Null while it lasts. */
      ended_at: Instant.nullable(),
    }),
  ),
  next_cursor: z.string().nullable(),
});
export type AlertsView = z.infer<typeof AlertsView>;

const Webhook = z.strictObject({
  webhook_id: z.string(),
  url: z.string(),
  /** Null for all. */
  kinds: z.array(AlertKind).nullable(),
  enabled: z.boolean(),
  created_at: Instant,
  last_delivery: z
    .strictObject({ at: Instant, state: z.enum(['waiting', 'delivered', 'failed']), status: z.int().nullable() })
    .nullable(),
});

/** `GET /api/webhooks`. */
export const WebhooksView = z.strictObject({ rows: z.array(Webhook) });
export type WebhooksView = z.infer<typeof WebhooksView>;
export const WebhookView = Webhook;
export type WebhookView = z.infer<typeof WebhookView>;

/** `POST /api/webhooks`, `PUT /api/webhooks/<id>`. */
export const WebhookRequest = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).max(2000),
  kinds: z.array(AlertKind).min(1).max(ALERT_KINDS.length).nullable().default(null),
  enabled: z.boolean().default(true),
});
export type WebhookRequest = z.infer<typeof WebhookRequest>;

/** The only time that the signing secret is shown. */
export const NewWebhookView = Webhook.extend({ secret: z.string() });
export type NewWebhookView = z.infer<typeof NewWebhookView>;

/**
 * `GET /api/webhooks/<id>/deliveries`, newest first, at most 100; also the answer of `POST …/test` with its one
 * row.
 */
export const DeliveriesView = z.strictObject({
  rows: z.array(
    z.strictObject({
      delivery_id: z.string(),
      kind: AlertKind,
      created_at: Instant,
      state: z.enum(['waiting', 'delivered', 'failed']),
      attempts: z.int().min(0),
      next_attempt_at: Instant.nullable(),
      /** Status that the receiver answered last. */
      status: z.int().nullable(),
      /** What went wrong last, in words; nothing of the receiver's answer. */
      error: z.string().nullable(),
    }),
  ),
});
export type DeliveriesView = z.infer<typeof DeliveriesView>;

/** What a webhook receives. `id` is the same in every attempt: who has seen it drops it. */
export const WebhookPayload = z.strictObject({
  id: z.string(),
  kind: AlertKind,
  workspace: z.string(),
  severity: z.enum(['info', 'warning', 'critical']),
  subject: z.string(),
  message: z.string(),
  raised_at: Instant,
  ended_at: Instant.nullable(),
});
export type WebhookPayload = z.infer<typeof WebhookPayload>;
