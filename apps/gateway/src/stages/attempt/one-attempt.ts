import type { AttemptPlan, PlannedAttempt } from '@sluice/contracts';
import type { SlotLease } from '@sluice/limits';
import type { AccountUse, Breaker, BreakerPass } from '@sluice/resilience';
import type { Call } from '../../call.ts';
import type { CredentialCapacity } from '../../upstream/capacity.ts';

/** The account that an attempt or a probe uses, and whose request it is. */
export interface AccountInUse {
  /** For logs and alerts. */
  readonly requestId: string;
  readonly capacity: CredentialCapacity;
  /** Leave for this tenant and model. */
  readonly use: AccountUse;
}

/** One attempt of a call at one entry of its plan, with what it holds until it is sent or given up. */
export interface Attempt extends AccountInUse {
  readonly call: Call;
  readonly plan: AttemptPlan;
  readonly entry: PlannedAttempt;
  readonly breaker: Breaker;
  readonly pass: BreakerPass;
  /** Undefined until a slot was found. */
  slot: SlotLease | undefined;
  /** How long the slot was waited for, milliseconds. */
  queueMs: number;
}

/** An attempt that has its slot: it may be sent. */
export type ReadyAttempt = Attempt & { readonly slot: SlotLease };
