import type { AttemptPlan, InboundCall, PlannedAttempt, ProviderAdapter, Refusal } from '@sluice/contracts';
import { type AdapterLookup, serviceOf } from './static-plan.ts';

/**
 * The plan without the entries that cannot carry this call. Where none can, the refusal names what the first one
 * cannot. The plan itself where nothing has to go, and that without a look where no entry translates.
 */
export function fitPlan(plan: AttemptPlan, inbound: InboundCall, adapters: AdapterLookup): AttemptPlan | Refusal {
  let refusal: Refusal | undefined;
  let fit: PlannedAttempt[] | undefined;
  for (const [index, entry] of plan.entries.entries()) {
    const adapter = adapters(entry.provider.dialect) as ProviderAdapter;
    const unfit =
      serviceOf(adapter, inbound.operation) === 'translated'
        ? adapter.judge(inbound, entry.provider.carryFields)
        : undefined;
    if (unfit === undefined) {
      fit?.push(entry);
      continue;
    }
    refusal ??= unfit;
    fit ??= plan.entries.slice(0, index);
  }
  if (fit === undefined) return plan;
  const [first, ...rest] = fit;
  return first === undefined ? (refusal as Refusal) : { ...plan, entries: [first, ...rest] };
}
