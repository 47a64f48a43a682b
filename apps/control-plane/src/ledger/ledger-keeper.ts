import type { LedgerKeeper } from '../api/ports.ts';
import type { AuditInput } from '../config/config-repository.ts';
import type { Executor } from '../db/open-database.ts';
import type { Ledger } from './create-ledger.ts';

/** What operators do to the ledger; a correction and its audit record are one transaction. */
export function createLedgerKeeper(deps: {
  ledger: Ledger;
  recordAudit: (tx: Executor, input: AuditInput) => Promise<unknown>;
}): LedgerKeeper {
  const { ledger, recordAudit } = deps;
  return {
    correct: (correction, actor) =>
      ledger.correct(correction, (tx, { tenant_id, workspace }) => {
        const { request_id, reason, ...figures } = correction;
        return recordAudit(tx, {
          type: 'ledger.corrected',
          actor,
          target: { kind: 'call', id: request_id },
          tenant_id,
          workspace,
          after: figures,
          reason,
        });
      }),
    rebuildRollups: ledger.rebuildRollups,
    checkRollups: ledger.checkRollups,
  };
}
