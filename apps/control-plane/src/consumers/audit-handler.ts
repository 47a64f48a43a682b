import { AuditEvent, type Clock, type EventHandler } from '@sluice/contracts';
import type { AuditStore } from '../audit/audit-store.ts';
import { readBatch } from './read-batch.ts';
import { storeIsolated } from './store-isolated.ts';

/** Writes audit events to the audit log, each once. */
export function createAuditHandler(deps: {
  store: Pick<AuditStore, 'insert'>;
  clock: Pick<Clock, 'now'>;
}): EventHandler {
  return async (batch) => {
    const { events, failed } = readBatch(AuditEvent, batch, deps.clock);
    await storeIsolated(events, failed, (audited) => deps.store.insert(audited));
    return { failed };
  };
}
