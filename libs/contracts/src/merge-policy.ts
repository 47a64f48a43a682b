import { Policy, type PolicyOverride } from './policy.ts';

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

function defined(source: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined));
}
