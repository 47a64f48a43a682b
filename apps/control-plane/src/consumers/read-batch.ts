import type { z } from 'zod';
import { EVENT_SCHEMA, type Clock, type IncomingEvent } from '@sluice/contracts';

export interface ReadBatch<T> {
  readonly events: readonly { readonly messageId: string; readonly event: T }[];
  /** Message id → why it cannot be read. */
  readonly failed: Map<string, string>;
}

const REASON_LENGTH = 300;
/** How far ahead of ours the clock of whoever wrote an event may be. */
export const FUTURE_TOLERANCE_MS = 24 * 3_600_000;

/**
 * Splits a batch into what the schema reads and what it does not: an unknown format version and a time to come are
 * in the latter.
 */
export function readBatch<T extends { occurred_at: string }>(
  schema: z.ZodType<T>,
  batch: readonly IncomingEvent[],
  clock: Pick<Clock, 'now'>,
): ReadBatch<T> {
  const events: { messageId: string; event: T }[] = [];
  const failed = new Map<string, string>();
  for (const { messageId, body } of batch) {
    const read = readEvent(schema, body, clock.now());
    if (typeof read === 'string') failed.set(messageId, read);
    else events.push({ messageId, event: read });
  }
  return { events, failed };
}

/** The event, or why it cannot be read. Values of the body are not repeated in the reason, but for its version. */
function readEvent<T extends { occurred_at: string }>(schema: z.ZodType<T>, body: string, nowMs: number): T | string {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return 'the body is not JSON';
  }
  if (typeof json !== 'object' || json === null) return 'the body is not a JSON object';
  const version: unknown = Reflect.get(json, 'schema');
  if (typeof version === 'string' && version !== EVENT_SCHEMA)
    return `schema: the version ${version.slice(0, 60)} is not known, only ${EVENT_SCHEMA}`;
  const read = schema.safeParse(json);
  if (!read.success)
    return read.error.issues
      .map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`)
      .join('; ')
      .slice(0, REASON_LENGTH);
  if (Date.parse(read.data.occurred_at) > nowMs + FUTURE_TOLERANCE_MS)
    return `occurred_at: ${read.data.occurred_at} is more than a day to come`;
  return read.data;
}
