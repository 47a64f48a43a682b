import { isDeepStrictEqual } from 'node:util';
import {
  mergePolicy,
  type ChainEntry,
  type CustomerOverride,
  type CustomerPolicy,
  type Plan,
  type Policy,
  type PolicyOverride,
  type PolicyView,
  type Workspace,
} from '@sluice/contracts';
import { ProblemError, type FieldFault } from '@sluice/service-kit';
import { pickFields, POLICY_FIELDS, setAt, valueAt } from './policy-fields.ts';

const PATHS = POLICY_FIELDS.map(({ path }) => path);

/** An override as its customer sees it. */
export function shownOverride(override: PolicyOverride): CustomerOverride {
  return withoutCredentials(pickFields(override, PATHS));
}

/** The policy of a workspace for its people. `mayWrite` tells whether the asking one may change it. */
export function policyView(workspace: Workspace, plan: Plan, version: number, mayWrite: boolean): PolicyView {
  const shown = (policy: Policy): CustomerPolicy => withoutCredentials(pickFields(policy, PATHS)) as CustomerPolicy;
  return {
    workspace: workspace.slug,
    version,
    override: shownOverride(workspace.override),
    effective: shown(mergePolicy(plan.policy, workspace.override)),
    plan: { id: plan.id, policy: shown(plan.policy) },
    fields: POLICY_FIELDS.map(({ path, rule, note }) => ({
      path,
      source: valueAt(workspace.override, path) === undefined ? 'plan' : 'override',
      rule,
      editable: mayWrite && rule !== 'fixed',
      note: note ?? null,
    })),
  };
}

/**
 * The override that a customer's edit makes: fields that are not the customer's, and those that customers do not
 * see, stay as they are.
 *
 * @throws ProblemError 400 naming every field that is not the customer's to change, or looser than the plan.
 */
export function editedOverride(current: PolicyOverride, wanted: CustomerOverride, plan: Plan): PolicyOverride {
  const before = shownOverride(current);
  const faults: FieldFault[] = [];
  const next: Record<string, unknown> =
    current.maxPoolSharePercent === undefined ? {} : { maxPoolSharePercent: current.maxPoolSharePercent };
  for (const { path, rule, check } of POLICY_FIELDS) {
    const value = valueAt(wanted, path);
    const unchanged = isDeepStrictEqual(value, valueAt(before, path));
    // What an operator has given stays valid however far it goes beyond the plan.
    if (unchanged || (rule === 'fixed' && value === undefined)) {
      const kept = valueAt(current, path);
      if (kept !== undefined) setAt(next, path, kept);
      continue;
    }
    if (value === undefined) continue;
    const fault = rule === 'fixed' ? 'is not yours to change; leave it out' : check?.(value, plan.policy);
    if (fault !== undefined) faults.push({ path, message: fault });
    else setAt(next, path, path === 'routing.chain' ? withCredentials(value as ChainEntry[], plan) : value);
  }
  if (faults.length > 0) throw new ProblemError(400, 'The change is not possible', { errors: faults });
  return next as PolicyOverride;
}

/**
 * Paths that two edits of the same base have changed differently; every path that differs when the base is not
 * known.
 */
export function conflictingPaths(
  base: CustomerOverride | undefined,
  current: CustomerOverride,
  yours: CustomerOverride,
): string[] {
  return PATHS.filter((path) => {
    const [before, theirs, mine] = [
      base === undefined ? undefined : valueAt(base, path),
      valueAt(current, path),
      valueAt(yours, path),
    ];
    if (isDeepStrictEqual(theirs, mine)) return false;
    return base === undefined || (!isDeepStrictEqual(theirs, before) && !isDeepStrictEqual(mine, before));
  });
}

/** Which account of ours serves a customer is not shown. */
function withoutCredentials(document: CustomerOverride): CustomerOverride {
  const chain = document.routing?.chain as readonly ChainEntry[] | undefined;
  if (chain === undefined) return document;
  return {
    ...document,
    routing: {
      ...document.routing,
      chain: chain.map(({ provider, model, triggerOn }) => ({
        provider,
        ...(model === undefined ? {} : { model }),
        ...(triggerOn === undefined ? {} : { triggerOn }),
      })),
    },
  };
}

/** Entries keep the account that the plan gives their provider. */
function withCredentials(chain: readonly ChainEntry[], plan: Plan): ChainEntry[] {
  return chain.map((entry) => {
    const credential = plan.policy.routing.chain.find(({ provider }) => provider === entry.provider)?.credential;
    return credential === undefined ? entry : { ...entry, credential };
  });
}
