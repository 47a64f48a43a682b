import type { z } from 'zod';
import type { IncomingEvent } from '@sluice/contracts';

export interface ReadBatch<T> {
  readonly events: readonly { readonly messageId: string; readonly event: T }[];
  /** Message id → why it cannot be read. */
  readonly failed: Map<string, string>;
}

const REASON_LENGTH = 300;

/** Splits a batch into what the schema reads and what it does not; an unknown format version is in the latter. */
export function readBatch<T>(schema: z.ZodType<T>, batch: readonly IncomingEvent[]): ReadBatch<T> {
  const events: { messageId: string; event: T }[] = [];
  const failed = new Map<string, string>();
  for (const { messageId, body } of batch) {
    let json: unknown;
    try {
      json = JSON.parse(body);
    } catch {
      failed.set(messageId, 'the body is not JSON');
      continue;
    }
    const read = schema.safeParse(json);
    if (read.success) events.push({ messageId, event: read.data });
    else failed.set(messageId, read.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ').slice(0, REASON_LENGTH));
  }
  return { events, failed };
}
