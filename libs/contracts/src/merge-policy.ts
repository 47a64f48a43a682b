import { Policy, type Limits, type PolicyOverride } from './policy.ts';
import { OVERAGE_WINDOW, type Plan, type Tenant } from './tenancy.ts';

const NESTED = ['limits', 'routing', 'deadlines', 'retries', 'dataRules', 'cache'] as const;

/**
 * A plan's policy with a workspace's overrides laid over it.
 *
 * @throws ZodError when the merged policy is impossible (a `queued` above `inFlight`, for instance).
 */
export function mergePolicy(plan: Policy, override: PolicyOverride): Policy {
  const merged: Record<string, unknown> = { ...plan, ...defined(override) };
  for (const field of NESTED) merged[field] = { ...plan[field], ...defined(override[field] ?? {}) };
  return Policy.parse(merged);
}

/**
 * The plan's defaults with the tenant's own limits over them, limit by limit. The window of the overage cap is
 * derived, so it does not count as the tenant's own quotas.
 */
export function mergeTenantLimits(plan: Pick<Plan, 'tenantLimits'>, tenant: Pick<Tenant, 'limits'>): Limits {
  const { limits } = tenant;
  const own = limits.quotas.some(({ id }) => id !== OVERAGE_WINDOW);
  return {
    ...plan.tenantLimits,
    ...limits,
    quotas: own
      ? limits.quotas
      : [...plan.tenantLimits.quotas.filter(({ id }) => id !== OVERAGE_WINDOW), ...limits.quotas],
  };
}

function defined(source: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined));
}
