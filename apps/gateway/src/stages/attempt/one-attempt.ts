import type { AttemptPlan, PlannedAttempt } from '@sluice/contracts';
import type { SlotLease } from '@sluice/limits';
import type { Breaker, BreakerPass } from '@sluice/resilience';
import type { Call } from '../../call.ts';
import type { AccountInUse } from '../../upstream/account-in-use.ts';

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
