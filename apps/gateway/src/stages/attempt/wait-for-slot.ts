import type { AdmissionLease, AttemptPlan, LimitRefusal, LimitStore } from '@sluice/contracts';
import type { SlotLease, SlotPool, SlotRequest } from '@sluice/limits';
import type { Call } from '../../call.ts';
import type { CompiledKey } from '../../compiled-config.ts';
import type { Attempt } from './one-attempt.ts';

export type SlotOutcome = SlotLease | 'timeout' | 'aborted' | LimitRefusal;

/**
 * A slot of the provider's capacity, in the fair order. Whoever must wait is counted as queued at tenant, workspace and
 * key for as long as it waits, and refused where too many wait already.
 *
 * @param mayWait false takes a free slot or none.
 */
export function waitForSlot(
  limits: LimitStore,
  { call, plan, entry, capacity }: Attempt,
  mayWait: boolean,
): SlotLease | 'timeout' | Promise<SlotOutcome> {
  const { pool } = capacity;
  const { workspace } = call.key as CompiledKey;
  const claim = {
    tenantId: workspace.tenant.id,
    workspaceId: workspace.workspace.uuid,
    priority: plan.priority,
    model: entry.model,
    costTokens: call.reservation === undefined ? 1 : call.reservation.inputTokens + call.reservation.outputTokens,
    maxSharePercent: plan.maxPoolSharePercent,
    timeoutMs: 0,
  };
  const free = pool.acquire(claim);
  if (!(free instanceof Promise)) return free;
  return mayWait ? waitInQueue(call, limits, plan, pool, claim) : 'timeout';
}

async function waitInQueue(
  call: Call,
  limits: LimitStore,
  plan: AttemptPlan,
  pool: SlotPool,
  claim: SlotRequest,
): Promise<SlotOutcome> {
  const lease = call.lease as AdmissionLease;
  const refused = await limits.enterQueue(lease);
  if (refused !== undefined) return refused;
  const slot = await pool.acquire({ ...claim, cancel: call.cancel, timeoutMs: plan.queueTimeoutMs });
  try {
    await limits.leaveQueue(lease);
  } catch (error) {
    if (typeof slot === 'object') slot.release();
    throw error;
  }
  return slot;
}
