import type { FailoverTrigger, FaultKind, Refusal, UpstreamFault } from '@sluice/contracts';

/** Faults after which the same request may succeed at the same place. */
const TRANSIENT: readonly FaultKind[] = [
  'connect',
  'server',
  'overloaded',
  'rate_limited',
  'truncated',
  'malformed',
  'timeout',
];
/** Faults that pass quickly: worth one more try at the first choice before another provider is asked. */
const BLIP: readonly FaultKind[] = ['connect', 'server', 'truncated'];

/** The policy word for a fault; undefined when no trigger covers it. */
export function triggerOf(kind: FaultKind): FailoverTrigger | undefined {
  switch (kind) {
    case 'rate_limited':
    case 'overloaded':
      return 'rate_limit';
    case 'timeout':
      return 'timeout';
    case 'context_window':
      return 'context_window';
    case 'caller':
      return undefined;
    default:
      return 'error';
  }
}

export interface FaultSituation {
  readonly fault: UpstreamFault;
  readonly triggerOn: readonly FailoverTrigger[];
  /** Entries of the plan after this one. */
  readonly entriesLeft: number;
  /** Calls made so far at this entry, at least 1. */
  readonly triesHere: number;
  /** Calls that may still be made. */
  readonly callsLeft: number;
  /** Another account of the same entry may be used now. */
  readonly otherAccount: boolean;
}

/** True when the policy lets a call that met one of these reasons go on to the next entry. */
export function mayMoveOn(reasons: readonly FailoverTrigger[], triggerOn: readonly FailoverTrigger[]): boolean {
  return reasons.some((reason) => triggerOn.includes(reason));
}

/** What follows a failed attempt: the same place again, the next place, or the end. */
export function nextStep({
  fault,
  triggerOn,
  entriesLeft,
  triesHere,
  callsLeft,
  otherAccount,
}: FaultSituation): 'retry' | 'next' | 'give_up' {
  if (callsLeft < 1) return 'give_up';
  // What was met belongs to the account: the same provider serves by another one.
  if (otherAccount && (fault.kind === 'rate_limited' || fault.kind === 'account')) return 'retry';
  const trigger = triggerOf(fault.kind);
  const moveOn = entriesLeft > 0 && trigger !== undefined && triggerOn.includes(trigger);
  if (moveOn) return BLIP.includes(fault.kind) && triesHere === 1 && callsLeft > 1 ? 'retry' : 'next';
  return TRANSIENT.includes(fault.kind) && fault.kind !== 'timeout' ? 'retry' : 'give_up';
}

/** What the caller is told when the last attempt failed like this. */
export function finalRefusal(fault: UpstreamFault): Refusal {
  switch (fault.kind) {
    case 'account':
      return { code: 'upstream_account' };
    case 'rate_limited':
      return { code: 'upstream_rate_limited', refusedBy: 'upstream', retryAfterMs: fault.retryAfterMs ?? 1_000 };
    case 'overloaded':
      return { code: 'upstream_overloaded', refusedBy: 'upstream', retryAfterMs: fault.retryAfterMs ?? 1_000 };
    case 'timeout':
      return { code: 'upstream_timeout' };
    case 'malformed':
      return { code: 'upstream_malformed' };
    case 'caller':
    case 'context_window':
    case 'model_unknown':
      return {
        code: 'bad_request',
        refusedBy: 'upstream',
        ...(fault.status === undefined ? {} : { status: fault.status }),
      };
    default:
      return { code: 'upstream_unavailable' };
  }
}
