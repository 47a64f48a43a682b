import { sql } from 'drizzle-orm';
import { AuditEvent, EVENT_SCHEMA, type Clock } from '@sluice/contracts';
import type { Ids } from '@sluice/service-kit';
import type { AuditInput } from '../config/config-repository.ts';
import type { Executor } from '../db/open-database.ts';
import { redactState, redactText } from './redact.ts';

export interface Audit {
  /**
   * Writes the event to `event_outbox` with the given transaction, so that it is there exactly when the change is.
   * It reaches the audit log over the spine.
   *
   * Secrets do not get in: `before` and `after` are built from the fields that are known to be none.
   *
   * @throws ZodError when the input makes no valid audit event.
   */
  record(tx: Executor, input: AuditInput): Promise<AuditEvent>;
}

/** Every text and state that a caller gave, as it may be seen by whoever reads the log. */
function withoutSecrets(input: AuditInput): AuditInput {
  const { actor, target, before, after, reason, ...rest } = input;
  return {
    ...rest,
    actor: { ...actor, id: redactText(actor.id).slice(0, 200) },
    target: { kind: target.kind, id: redactText(target.id).slice(0, 200) },
    ...(before === undefined ? {} : { before: redactState(before) }),
    ...(after === undefined ? {} : { after: redactState(after) }),
    ...(reason === undefined ? {} : { reason: redactText(reason).slice(0, 500) }),
  };
}

export function createAudit(deps: { clock: Pick<Clock, 'now'>; ids: Pick<Ids, 'ulid'> }): Audit {
  return {
    record: async (tx, input) => {
      const event = AuditEvent.parse({
        ...withoutSecrets(input),
        schema: EVENT_SCHEMA,
        event_id: `aud_${deps.ids.ulid()}`,
        occurred_at: new Date(deps.clock.now()).toISOString(),
      });
      const attributes = { type: event.type, ...(event.tenant_id !== undefined && { tenant_id: event.tenant_id }) };
      await tx.execute(sql`
        insert into event_outbox (topic, event, attributes)
        values ('audit-events', ${JSON.stringify(event)}::jsonb, ${JSON.stringify(attributes)}::jsonb)`);
      return event;
    },
  };
}
