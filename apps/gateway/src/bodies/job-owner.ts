import type { Call } from '../call.ts';
import type { CompiledKey } from '../compiled-config.ts';
import type { JobOwner } from './body-pool.ts';

/** Whose turn a job of this call takes. */
export function ownerOf(call: Call): JobOwner {
  const { tenant, workspace, policy } = (call.key as CompiledKey).workspace;
  return { tenantId: tenant.id, workspaceId: workspace.uuid, priority: policy.priority };
}
