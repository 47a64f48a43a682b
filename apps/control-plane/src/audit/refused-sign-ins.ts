import type { Clock } from '@sluice/contracts';
import type { AuditInput } from '../config/config-repository.ts';

const BURST = 20;
const PER_SECOND = 1;

/**
 * Records failed sign-ins of people, at most 20 at once and then one a second, so that guessing addresses cannot
 * fill the audit log. What was left out is counted in the next record.
 */
export function createRefusedSignIns(deps: {
  clock: Pick<Clock, 'now'>;
  record: (input: AuditInput) => void;
}): (input: AuditInput) => void {
  let tokens = BURST;
  let atMs = deps.clock.now();
  let suppressed = 0;
  return (input) => {
    const nowMs = deps.clock.now();
    tokens = Math.min(BURST, tokens + (Math.max(0, nowMs - atMs) / 1000) * PER_SECOND);
    atMs = nowMs;
    if (tokens < 1) {
      suppressed += 1;
      return;
    }
    tokens -= 1;
    deps.record(suppressed === 0 ? input : { ...input, after: { suppressed } });
    suppressed = 0;
  };
}
