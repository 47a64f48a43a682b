import type { LimitStore } from '@sluice/contracts';
import type { LedgerAudit } from './ledger-audit.ts';

/** A store whose windows know their past before a call is judged by them, or shown to its caller. */
export function createFoundedLimits(limits: LimitStore, { found }: Pick<LedgerAudit, 'found'>): LimitStore {
  return {
    ...limits,
    get status() {
      return limits.status;
    },
    admit(request) {
      const waiting = found(request.scope);
      return waiting === undefined ? limits.admit(request) : waiting.then(() => limits.admit(request));
    },
    view(scope) {
      const waiting = found(scope);
      return waiting === undefined ? limits.view(scope) : waiting.then(() => limits.view(scope));
    },
  };
}
