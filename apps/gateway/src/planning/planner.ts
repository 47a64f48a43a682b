import type { AttemptPlan, Refusal } from '@sluice/contracts';
import type { Wanted } from '../call.ts';
import type { CompiledConfig, CompiledKey, CompiledWorkspace } from '../compiled-config.ts';
import { fitPlan } from './fit-plan.ts';
import { type AdapterLookup, isPlanRefusal, serviceOf, staticPlan } from './static-plan.ts';

/** Plans of one workspace that are kept; beyond that the oldest goes. */
const MAX_PLANS = 256;

/** Makes the plan by rule of a call, or says why there is none. */
export interface Planner {
  planFor(config: CompiledConfig, key: CompiledKey, resolved: Wanted): AttemptPlan | Refusal;
}

interface KnownPlan {
  readonly plan: AttemptPlan | Refusal;
  /** Some entry is of another dialect: whether it can carry a call must be judged call by call. */
  readonly translates: boolean;
}

/**
 * The plan by rule depends on the configuration version and the request's class only, so it is made once and kept with
 * the compiled workspace, which is replaced with each version.
 */
export function createPlanner({ adapters }: { adapters: AdapterLookup }): Planner {
  const plans = new WeakMap<CompiledWorkspace, { readonly config: object; readonly byClass: Map<string, KnownPlan> }>();

  function make(config: CompiledConfig, workspace: CompiledWorkspace, resolved: Wanted): KnownPlan {
    const plan = staticPlan(config, workspace, resolved, adapters);
    const { operation } = resolved.inbound;
    return {
      plan,
      translates:
        !isPlanRefusal(plan) &&
        plan.entries.some((entry) => serviceOf(adapters(entry.provider.dialect), operation) === 'translated'),
    };
  }

  return {
    planFor(config, { workspace }, resolved) {
      let known = plans.get(workspace);
      if (known === undefined || known.config !== config) {
        known = { config, byClass: new Map() };
        plans.set(workspace, known);
      }
      const requestClass = classOf(resolved);
      let planned = known.byClass.get(requestClass);
      if (planned === undefined) {
        planned = make(config, workspace, resolved);
        if (known.byClass.size >= MAX_PLANS) known.byClass.delete(known.byClass.keys().next().value as string);
        known.byClass.set(requestClass, planned);
      }
      const { plan } = planned;
      return planned.translates && !isPlanRefusal(plan) ? fitPlan(plan, resolved.inbound, adapters) : plan;
    },
  };
}

function classOf(resolved: Wanted): string {
  const models =
    resolved.candidates.length === 1
      ? resolved.candidates[0].id
      : resolved.candidates.map((model) => model.id).join(',');
  // A pin is a model cut down to the offers that it names: two pins may share the model's id.
  const pin = resolved.pinned
    ? resolved.candidates[0].offers.map((offer) => `${offer.provider}/${offer.providerModel}`).join(',')
    : '';
  return `${resolved.inbound.operation} ${models} ${pin} ${resolved.feature ?? ''}`;
}
