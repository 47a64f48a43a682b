import type { AttemptPlan, Model, Operation, PlannedAttempt, ProviderAdapter, ProviderDialect, Refusal } from '@sluice/contracts';
import type { Resolved } from '../../call.ts';
import type { CompiledConfig, CompiledWorkspace } from '../../compiled-config.ts';

const DEFAULT_QUEUE_TIMEOUT_MS = 10_000;

export type AdapterLookup = (dialect: ProviderDialect) => ProviderAdapter | undefined;

/**
 * The plan by rule: every candidate model, each over the policy's chain in its order, as far as the provider offers the
 * model, may be used by this workspace, speaks the route's dialect and is not switched off.
 */
export function staticPlan(config: CompiledConfig, workspace: CompiledWorkspace, resolved: Resolved, adapters: AdapterLookup): AttemptPlan | Refusal {
  const { policy } = workspace;
  const entries: PlannedAttempt[] = [];
  let otherDialect = false;
  for (const model of resolved.candidates) {
    for (const link of policy.routing.chain) {
      const target = link.model === undefined || resolved.pinned ? model : config.models.get(link.model);
      const provider = config.providers.get(link.provider);
      const offer = target?.offers.find((candidate) => candidate.provider === link.provider);
      if (target === undefined || provider === undefined || offer === undefined || !isAllowed(config, workspace, provider.id)) continue;
      if (adapters(provider.dialect)?.operations.includes(resolved.inbound.operation) !== true) {
        otherDialect = true;
        continue;
      }
      const credentials = provider.credentials.filter(
        (credential) =>
          (link.credential === undefined || credential.id === link.credential) &&
          (credential.tenants === undefined || credential.tenants.includes(workspace.tenant.id)),
      );
      if (credentials.length === 0) continue;
      entries.push({
        provider,
        model: target.id,
        providerModel: offer.providerModel,
        credentials,
        price: offer.price,
        triggerOn: link.triggerOn ?? policy.routing.triggerOn,
      });
      if (policy.dataRules.noFallback || resolved.pinned) break;
    }
    if (entries.length > 0 && (policy.dataRules.noFallback || resolved.pinned)) break;
  }
  const [first, ...rest] = entries;
  if (first === undefined) return nothingFits(resolved.candidates[0], resolved.inbound.operation, otherDialect);
  return {
    entries: [first, ...rest],
    source: resolved.pinned ? 'pinned' : resolved.feature !== undefined && policy.routing.features[resolved.feature]?.model !== undefined ? 'feature' : 'static',
    decisionId: undefined,
    priority: (resolved.feature === undefined ? undefined : policy.routing.features[resolved.feature]?.priority) ?? policy.priority,
    maxPoolSharePercent: policy.maxPoolSharePercent,
    deadlines: policy.deadlines,
    retries: policy.retries,
    holdMs: policy.routing.holdMs,
    queueTimeoutMs: policy.limits.concurrency?.queueTimeoutMs ?? DEFAULT_QUEUE_TIMEOUT_MS,
  };
}

/** True for a refusal among the results of `staticPlan`. */
export function isPlanRefusal(value: AttemptPlan | Refusal): value is Refusal {
  return 'code' in value;
}

function isAllowed(config: CompiledConfig, workspace: CompiledWorkspace, providerId: string): boolean {
  const { allowedProviders, regions } = workspace.policy.dataRules;
  const provider = config.providers.get(providerId);
  if (provider === undefined || !provider.enabled) return false;
  if (allowedProviders !== undefined && !allowedProviders.includes(providerId)) return false;
  if (regions !== undefined && !regions.includes(provider.region)) return false;
  return !config.killSwitches.some((kill) => kill.scope === 'provider' && kill.target === providerId);
}

function nothingFits(model: Model, operation: Operation, otherDialect: boolean): Refusal {
  if (otherDialect) {
    return {
      code: 'model_not_found',
      param: 'model',
      message: `The model '${model.id}' is only served by providers of another protocol, and ${operation} calls are not translated; use the other route, or add a provider of this protocol to the workspace's chain.`,
    };
  }
  return { code: 'model_not_found', param: 'model', message: `No provider that this workspace may use serves the model '${model.id}' for ${operation}.` };
}
