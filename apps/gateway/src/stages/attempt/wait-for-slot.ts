import type { AdmissionLease, AttemptPlan, LimitRefusal, LimitStore } from '@sluice/contracts';
import type { SlotLease, SlotPool } from '@sluice/limits';
import type { Call } from '../../call.ts';
import type { CompiledKey } from '../../compiled-config.ts';

/**
 * A slot of the provider's capacity, in the fair order. Whoever must wait is counted as queued at tenant, workspace and
 * key for as long as it waits, and refused where too many wait already.
 */
export async function waitForSlot(call: Call, limits: LimitStore, plan: AttemptPlan, pool: SlotPool): Promise<SlotLease | 'timeout' | 'aborted' | LimitRefusal> {
  const { workspace } = call.key as CompiledKey;
  const claim = {
    tenantId: workspace.tenant.id,
    workspaceId: workspace.workspace.uuid,
    priority: plan.priority,
    costTokens: call.reservation === undefined ? 1 : call.reservation.inputTokens + call.reservation.outputTokens,
    maxSharePercent: plan.maxPoolSharePercent,
  };
  const free = pool.acquire({ ...claim, timeoutMs: 0 });
  if (!(free instanceof Promise)) return free;
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
