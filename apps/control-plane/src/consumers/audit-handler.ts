import { AuditEvent, type EventHandler } from '@sluice/contracts';
import type { AuditStore } from '../audit/audit-store.ts';
import { readBatch } from './read-batch.ts';
import { storeIsolated } from './store-isolated.ts';

/** Writes audit events to the audit log, each once. */
export function createAuditHandler(deps: { store: Pick<AuditStore, 'insert'> }): EventHandler {
  return async (batch) => {
    const { events, failed } = readBatch(AuditEvent, batch);
    await storeIsolated(events, failed, (audited) => deps.store.insert(audited));
    return { failed };
  };
}
