import type {
  AttemptPlan,
  Credential,
  Model,
  Operation,
  PlannedAttempt,
  Provider,
  ProviderAdapter,
  ProviderDialect,
  Refusal,
} from '@sluice/contracts';
import type { Wanted } from '../call.ts';
import type { CompiledConfig, CompiledWorkspace } from '../compiled-config.ts';

const DEFAULT_QUEUE_TIMEOUT_MS = 10_000;

export type AdapterLookup = (dialect: ProviderDialect) => ProviderAdapter | undefined;

/**
 * How a provider serves an operation: in its own dialect, through a translation, or (counts of tokens) not at all,
 * so that we estimate.
 */
export type Service = 'own' | 'translated' | 'estimated';

export function serviceOf(adapter: ProviderAdapter | undefined, operation: Operation): Service | undefined {
  if (adapter === undefined) return undefined;
  if (adapter.operations.includes(operation)) return 'own';
  if (adapter.translates.includes(operation)) return 'translated';
  return operation === 'count_tokens' && adapter.translates.includes('messages') ? 'estimated' : undefined;
}

/**
 * The plan by rule: every candidate model, each over the policy's chain in its order, as far as the provider offers
 * the model, may be used by this workspace, serves the operation and is not switched off. Whether a call can be
 * carried to a provider of another dialect depends on the call; see `fitPlan`. Tokens are counted by who can,
 * wherever it stands.
 */
export function staticPlan(
  config: CompiledConfig,
  workspace: CompiledWorkspace,
  resolved: Wanted,
  adapters: AdapterLookup,
): AttemptPlan | Refusal {
  const { policy } = workspace;
  const { operation } = resolved.inbound;
  const entries: PlannedAttempt[] = [];
  const estimated: PlannedAttempt[] = [];
  const { feature } = resolved;
  const { features } = policy.routing;
  const ofFeature = feature !== undefined && Object.hasOwn(features, feature) ? features[feature] : undefined;
  const priority = ofFeature?.priority ?? policy.priority;
  const onlyFirst = policy.dataRules.noFallback || resolved.pinned;
  for (const model of resolved.candidates) {
    for (const link of policy.routing.chain) {
      const target = link.model === undefined || resolved.pinned ? model : config.models.get(link.model);
      const provider = config.providers.get(link.provider);
      const offer = target?.offers.find((candidate) => candidate.provider === link.provider);
      if (target === undefined || provider === undefined || offer === undefined) continue;
      // A contract that forbids a fallback forbids it also while the first place is switched off.
      if (policy.dataRules.noFallback && isSwitchedOff(config, provider)) break;
      if (!isAllowed(config, workspace, provider)) continue;
      const service = serviceOf(adapters(provider.dialect), operation);
      if (service === undefined) continue;
      const credentials = provider.credentials.filter(
        (credential) =>
          (link.credential === undefined || credential.id === link.credential) &&
          (credential.tenants === undefined || credential.tenants.includes(workspace.tenant.id)) &&
          (credential.tiers === undefined || credential.tiers.includes(priority)),
      );
      if (credentials.length === 0 || entries.some((entry) => isSamePlace(entry, provider, target.id, credentials)))
        continue;
      (service === 'estimated' ? estimated : entries).push({
        provider,
        model: target.id,
        providerModel: offer.providerModel,
        credentials,
        price: offer.price,
        triggerOn: link.triggerOn ?? policy.routing.triggerOn,
      });
      if (onlyFirst) break;
    }
    if (entries.length + estimated.length > 0 && onlyFirst) break;
  }
  const [first, ...rest] = [...entries, ...estimated];
  if (first === undefined) return killed(config, workspace) ?? nothingFits(resolved.candidates[0], operation);
  return {
    entries: [first, ...rest],
    source: resolved.pinned ? 'pinned' : ofFeature?.model !== undefined ? 'feature' : 'static',
    decisionId: undefined,
    priority,
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

/** Several candidate models may lead to one place, where the chain names the model to use there: it is tried once. */
function isSamePlace(
  entry: PlannedAttempt,
  provider: Provider,
  model: string,
  credentials: readonly Credential[],
): boolean {
  return (
    entry.provider === provider &&
    entry.model === model &&
    entry.credentials.length === credentials.length &&
    entry.credentials.every((credential, i) => credential === credentials[i])
  );
}

function isAllowed(config: CompiledConfig, workspace: CompiledWorkspace, provider: Provider): boolean {
  const { allowedProviders, regions } = workspace.policy.dataRules;
  if (allowedProviders !== undefined && !allowedProviders.includes(provider.id)) return false;
  if (regions !== undefined && !regions.includes(provider.region)) return false;
  return !isSwitchedOff(config, provider);
}

function isSwitchedOff(config: CompiledConfig, provider: Provider): boolean {
  return (
    !provider.enabled || config.killSwitches.some((kill) => kill.scope === 'provider' && kill.target === provider.id)
  );
}

/** Where nothing is left because a provider of the chain was switched off, the operator's own words say so. */
function killed(config: CompiledConfig, { policy }: CompiledWorkspace): Refusal | undefined {
  const kill = config.killSwitches.find(
    ({ scope, target }) => scope === 'provider' && policy.routing.chain.some(({ provider }) => provider === target),
  );
  return kill === undefined
    ? undefined
    : { code: 'kill_switch', message: kill.message, retryAfterMs: kill.retryAfterSeconds * 1000 };
}

function nothingFits(model: Model, operation: Operation): Refusal {
  return {
    code: 'model_not_found',
    param: 'model',
    message: `No provider that this workspace may use serves the model '${model.id}' for ${operation}.`,
  };
}
