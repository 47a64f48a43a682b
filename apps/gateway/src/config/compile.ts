import {
  mergePolicy,
  mergeTenantLimits,
  type ApiKeyRecord,
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
import type { ConfigRows, ConfigTables } from './config-rows.ts';
import { createLazyTable } from './lazy-table.ts';

/**
 * Puts rows in force: what requests look up is derived of them. To be called again after each change of the rows,
 * or with other rows.
 */
export type Compiler = (rows: ConfigRows) => CompiledConfig;

/**
 * A compiler of one gateway. A row that cannot be compiled (a dangling tenant, an impossible policy) is logged when
 * it is asked for and is not there, so that one customer's mistake never stops another's calls.
 */
export function createCompiler({ logger }: { logger: Log }): Compiler {
  let tables: ConfigTables;
  let killSwitches: readonly KillSwitch[] = [];
  /** Most workspaces override nothing, and then their policy is their plan's. */
  const planPolicies = new WeakMap<Plan, Policy>();
  /** The same limits are one object in all tenants that have them. */
  const mergedLimits = new WeakMap<Plan, WeakMap<Limits, Limits>>();
  const workspaces = createLazyTable({ rows: () => tables.workspaces, compile: compileWorkspace });
  const keys = createLazyTable({ rows: () => tables.keys, compile: compileKey });

  return (rows) => {
    tables = rows.tables;
    killSwitches = [...tables.killSwitches.values()];
    workspaces.changed();
    keys.changed();
    return {
      version: rows.version,
      keys,
      workspaces,
      models: new Map(tables.models),
      providers: new Map(tables.providers),
      cells: new Map(tables.cells),
      killSwitches,
    };
  };

  function compileWorkspace(slug: string, last: CompiledWorkspace | undefined): CompiledWorkspace | undefined {
    const workspace = tables.workspaces.get(slug);
    if (workspace === undefined) return undefined;
    const tenant = tables.tenants.get(workspace.tenant);
    const plan = tenant === undefined ? undefined : tables.plans.get(tenant.plan);
    if (tenant === undefined || plan === undefined) {
      logger.error(
        { workspace: slug, tenant: workspace.tenant },
        'workspace left out: its tenant or plan does not exist',
      );
      return undefined;
    }
    const killSwitch = killSwitches.find((kill) => stops(kill, workspace));
    if (last?.workspace === workspace && last.tenant === tenant && last.plan === plan && last.killSwitch === killSwitch)
      return last;
    try {
      const policy = policyOf(plan, workspace);
      const levels = [
        level('tenant', tenant.id, tenantLimits(plan, tenant)),
        level('workspace', workspace.uuid, policy.limits),
      ];
      const scope = { tenantId: tenant.id, timeZone: tenant.timeZone, levels };
      return { workspace, tenant, plan, policy, priceBook: plan.priceBook, scope, killSwitch };
    } catch (error) {
      logger.error(
        { workspace: slug, reason: error instanceof Error ? error.message.slice(0, 500) : 'unknown' },
        'workspace left out: its policy is impossible',
      );
      return undefined;
    }
  }

  function compileKey(keyId: string, last: CompiledKey | undefined, find: 'get' | 'look'): CompiledKey | undefined {
    const record = tables.keys.get(keyId);
    const workspace = record === undefined ? undefined : workspaces[find](record.workspace);
    if (record === undefined || workspace === undefined) return undefined;
    return last?.record === record && last.workspace === workspace ? last : keyOf(record, workspace);
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

function keyOf(record: ApiKeyRecord, workspace: CompiledWorkspace): CompiledKey {
  const scope =
    record.limits === undefined
      ? workspace.scope
      : { ...workspace.scope, levels: [...workspace.scope.levels, level('key', record.keyId, record.limits)] };
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
