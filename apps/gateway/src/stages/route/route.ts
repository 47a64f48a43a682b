import type { AttemptPlan, Refusal } from '@sluice/contracts';
import type { Resolved } from '../../call.ts';
import type { CompiledKey, CompiledWorkspace } from '../../compiled-config.ts';
import type { Stage } from '../../stage.ts';
import { type AdapterLookup, isPlanRefusal, staticPlan } from './static-plan.ts';

/** Plans of one workspace that are kept; beyond that the oldest goes. */
const MAX_PLANS = 256;

/**
 * Chooses where the call goes, in order. The plan by rule depends on the configuration version and the request's class
 * only, so it is made once and kept with the compiled workspace, which is replaced with each version.
 */
export function createRouteStage({ adapters }: { adapters: AdapterLookup }): Stage {
  const plans = new WeakMap<CompiledWorkspace, { readonly config: object; readonly byClass: Map<string, AttemptPlan | Refusal> }>();
  return {
    name: 'route',
    run(call) {
      const { workspace } = call.key as CompiledKey;
      const resolved = call.resolved as Resolved;
      let known = plans.get(workspace);
      if (known === undefined || known.config !== call.config) {
        known = { config: call.config, byClass: new Map() };
        plans.set(workspace, known);
      }
      const requestClass = classOf(resolved);
      let plan = known.byClass.get(requestClass);
      if (plan === undefined) {
        plan = staticPlan(call.config, workspace, resolved, adapters);
        if (known.byClass.size >= MAX_PLANS) known.byClass.delete(known.byClass.keys().next().value as string);
        known.byClass.set(requestClass, plan);
      }
      if (isPlanRefusal(plan)) return plan;
      call.plan = plan;
      return undefined;
    },
  };
}

function classOf(resolved: Resolved): string {
  const models = resolved.candidates.length === 1 ? resolved.candidates[0].id : resolved.candidates.map((model) => model.id).join(',');
  // A pin is a model cut down to the offers that it names: two pins may share the model's id.
  const pin = resolved.pinned ? resolved.candidates[0].offers.map((offer) => `${offer.provider}/${offer.providerModel}`).join(',') : '';
  return `${resolved.inbound.operation} ${models} ${pin} ${resolved.feature ?? ''}`;
}
