import {
  mergePolicy,
  mergeTenantLimits,
  type ApiKeyRecord,
  type ConfigSnapshot,
  type KillSwitch,
  type LimitLevel,
  type Limits,
  type Plan,
  type Policy,
  type Tenant,
  type Workspace,
} from '@sluice/contracts';
import type { CompiledConfig, CompiledKey, CompiledWorkspace } from '../compiled-config.ts';
import type { Log } from '../log.ts';
import { createAddressAllowlist } from './address-allowlist.ts';

/** Derives from each snapshot what requests look up. What did not change since the last snapshot is taken over as it is. */
export type Compiler = (snapshot: ConfigSnapshot) => CompiledConfig;

interface WorkspaceInputs {
  readonly workspace: Workspace;
  readonly tenant: Tenant;
  readonly plan: Plan;
  readonly killSwitch: KillSwitch | undefined;
  readonly compiled: CompiledWorkspace;
}

/**
 * A compiler with a memory of the last version. A row that cannot be compiled (a dangling tenant, an impossible policy)
 * is logged and left out, so that one customer's mistake never stops another's calls.
 */
export function createCompiler({ logger }: { logger: Log }): Compiler {
  let lastWorkspaces = new Map<string, WorkspaceInputs>();
  let lastKeys: ReadonlyMap<string, CompiledKey> = new Map();
  /** Most workspaces override nothing, and then their policy is their plan's. */
  const planPolicies = new WeakMap<Plan, Policy>();
  /** The same limits are one object in all tenants that have them. */
  const mergedLimits = new WeakMap<Plan, WeakMap<Limits, Limits>>();

  return (snapshot) => {
    const killSwitches = Object.values(snapshot.killSwitches);
    const workspaces = new Map<string, WorkspaceInputs>();
    for (const workspace of Object.values(snapshot.workspaces)) {
      const inputs = compileWorkspace(snapshot, workspace, killSwitches);
      if (inputs !== undefined) workspaces.set(workspace.slug, inputs);
    }
    const keys = new Map<string, CompiledKey>();
    for (const record of Object.values(snapshot.keys)) {
      const workspace = workspaces.get(record.workspace)?.compiled;
      if (workspace === undefined) continue;
      const last = lastKeys.get(record.keyId);
      keys.set(record.keyId, last?.record === record && last.workspace === workspace ? last : compileKey(record, workspace));
    }
    lastWorkspaces = workspaces;
    lastKeys = keys;
    return {
      version: snapshot.version,
      keys,
      workspaces: new Map([...workspaces].map(([slug, inputs]) => [slug, inputs.compiled])),
      models: new Map(Object.entries(snapshot.models)),
      providers: new Map(Object.entries(snapshot.providers)),
      killSwitches,
    };
  };

  function compileWorkspace(snapshot: ConfigSnapshot, workspace: Workspace, killSwitches: readonly KillSwitch[]): WorkspaceInputs | undefined {
    const tenant = snapshot.tenants[workspace.tenant];
    const plan = tenant === undefined ? undefined : snapshot.plans[tenant.plan];
    if (tenant === undefined || plan === undefined) {
      logger.error({ workspace: workspace.slug, tenant: workspace.tenant }, 'workspace left out: its tenant or plan does not exist');
      return undefined;
    }
    const killSwitch = killSwitches.find((kill) => stops(kill, workspace));
    const last = lastWorkspaces.get(workspace.slug);
    if (last?.workspace === workspace && last.tenant === tenant && last.plan === plan && last.killSwitch === killSwitch) return last;
    try {
      const policy = policyOf(plan, workspace);
      const levels = [level('tenant', tenant.id, tenantLimits(plan, tenant)), level('workspace', workspace.uuid, policy.limits)];
      const scope = { tenantId: tenant.id, timeZone: tenant.timeZone, levels };
      return { workspace, tenant, plan, killSwitch, compiled: { workspace, tenant, policy, priceBook: plan.priceBook, scope, killSwitch } };
    } catch (error) {
      logger.error({ workspace: workspace.slug, reason: error instanceof Error ? error.message.slice(0, 500) : 'unknown' }, 'workspace left out: its policy is impossible');
      return undefined;
    }
  }

  /** The plan's defaults with the tenant's own limits over them, limit by limit. */
  function tenantLimits(plan: Plan, tenant: Tenant): Limits {
    const { limits } = tenant;
    let ofPlan = mergedLimits.get(plan);
    if (ofPlan === undefined) mergedLimits.set(plan, (ofPlan = new WeakMap()));
    let merged = ofPlan.get(limits);
    if (merged === undefined) {
      merged = mergeTenantLimits(plan, tenant);
      ofPlan.set(limits, merged);
    }
    return merged;
  }

  function policyOf(plan: Plan, workspace: Workspace): Policy {
    if (Object.keys(workspace.override).length > 0) return mergePolicy(plan.policy, workspace.override);
    let policy = planPolicies.get(plan);
    if (policy === undefined) {
      policy = mergePolicy(plan.policy, {});
      planPolicies.set(plan, policy);
    }
    return policy;
  }
}

function compileKey(record: ApiKeyRecord, workspace: CompiledWorkspace): CompiledKey {
  const scope = record.limits === undefined ? workspace.scope : { ...workspace.scope, levels: [...workspace.scope.levels, level('key', record.keyId, record.limits)] };
  return {
    record,
    digest: Buffer.from(record.digest, 'hex'),
    expiresAtMs: record.expiresAt === undefined ? Infinity : Date.parse(record.expiresAt),
    workspace,
    scope,
    allowsAddress: createAddressAllowlist(record.allowAddresses),
  };
}

function stops(kill: KillSwitch, workspace: Workspace): boolean {
  if (kill.scope === 'all') return true;
  return kill.scope === 'workspace' && (kill.target === workspace.slug || kill.target === workspace.uuid);
}

function level(name: LimitLevel['level'], id: string, limits: Limits): LimitLevel {
  return { level: name, id, limits };
}
