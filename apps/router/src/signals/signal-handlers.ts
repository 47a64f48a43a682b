import { Anomaly, CallSettled, outputTokens, type EventHandler } from '@sluice/contracts';
import type { z } from 'zod';
import type { TenantSignalStore } from './tenant-signals.ts';

/** The fields that are read; whatever else an event carries is no reason to refuse it. */
const Usage = CallSettled.pick({ schema: true, event_id: true, occurred_at: true, type: true, tenant_id: true, outcome: true, usage: true });
const Refusals = Anomaly.pick({ schema: true, event_id: true, occurred_at: true, type: true, tenant_id: true, count: true });

/** Counts each readable event of a batch; an unreadable one fails alone, with the reason. */
function each<T>(schema: z.ZodType<T>, count: (event: T) => void): EventHandler {
  return async (batch) => {
    const failed = new Map<string, string>();
    for (const { messageId, body } of batch) {
      const read = schema.safeParse(parse(body));
      if (read.success) count(read.data);
      else failed.set(messageId, read.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ').slice(0, 300));
    }
    return { failed };
  };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

/** Consumer of `router-usage`: answered calls give difficulty, and are what refusals are a share of. */
export const createUsageHandler = (signals: TenantSignalStore): EventHandler =>
  each(Usage, (event) => {
    if (event.outcome !== 'ok') return;
    signals.answered({ id: event.event_id, tenant: event.tenant_id, atMs: Date.parse(event.occurred_at), outputTokens: outputTokens(event.usage) });
  });

/** Consumer of `router-anomaly`, whose filter lets throttled and shed through. */
export const createRefusalHandler = (signals: TenantSignalStore): EventHandler =>
  each(Refusals, ({ event_id, tenant_id, occurred_at, count }) => {
    if (tenant_id !== undefined) signals.refused({ id: event_id, tenant: tenant_id, atMs: Date.parse(occurred_at), count });
  });
