import type { Model, ModelAbility, Provider } from '@sluice/contracts';
import type { RoutedKey, RoutedWorkspace, RouterConfig } from './router-config.ts';

/** Where a model would be asked, or why it must not be chosen. */
export type JudgedModel = { readonly provider: string } | { readonly excluded: string };

/** What a call demands of whoever answers it. */
export interface CallDemands {
  /** Prompt and answer together. */
  readonly contextTokens: number;
  /** Beside to chat. */
  readonly needs: readonly ModelAbility[];
}

/**
 * Whether a workspace, by this key where one is given, may be served by a model now; one text for what does not
 * exist and what is not its own.
 */
export function judgeCandidate(
  config: RouterConfig,
  workspace: RoutedWorkspace,
  key: RoutedKey | undefined,
  id: string,
  { contextTokens, needs }: CallDemands,
  nowMs: number,
): JudgedModel {
  const model = config.models.get(id);
  if (model === undefined) return { excluded: 'there is no model of this name' };
  const { routing } = workspace.policy;
  if (routing.allowModels !== undefined && !routing.allowModels.includes(id))
    return { excluded: 'the policy of the workspace does not allow it' };
  if (key?.record.allowModels !== undefined && !key.record.allowModels.includes(id))
    return { excluded: 'the API key does not allow it' };
  if (model.retirement !== undefined && Date.parse(model.retirement.at) <= nowMs)
    return { excluded: `it was retired on ${model.retirement.at.slice(0, 10)}` };
  if (!model.abilities.includes('chat')) return { excluded: 'it cannot chat' };
  const lacking = needs.filter((need) => !model.abilities.includes(need));
  if (lacking.length > 0) return { excluded: `it cannot do ${lacking.join(', ')}, which the call needs` };
  if (contextTokens > model.contextTokens)
    return { excluded: `its context holds ${model.contextTokens} tokens; ${contextTokens} are needed` };
  if (config.killSwitches.some(({ scope, target }) => scope === 'model' && target === id))
    return { excluded: 'an operator has switched it off' };
  return placeOf(config, workspace, model);
}

/** The first place of the workspace's chain that offers the model and may be used. */
function placeOf(config: RouterConfig, { policy }: RoutedWorkspace, model: Model): JudgedModel {
  let why = 'no provider in the chain of the workspace offers it';
  for (const link of policy.routing.chain) {
    const provider = config.providers.get(link.provider);
    const fault =
      provider === undefined || !offers(model, link) ? undefined : faultOf(config, policy.dataRules, provider);
    if (provider !== undefined && offers(model, link) && fault === undefined) return { provider: provider.id };
    if (fault !== undefined) why = fault;
    if (policy.dataRules.noFallback)
      return {
        excluded: fault ?? 'the first provider of the chain does not offer it, and the contract forbids a fallback',
      };
  }
  return { excluded: why };
}

const offers = (model: Model, link: { readonly provider: string; readonly model?: string | undefined }): boolean =>
  (link.model === undefined || link.model === model.id) &&
  model.offers.some(({ provider }) => provider === link.provider);

function faultOf(
  config: RouterConfig,
  { regions, allowedProviders }: RoutedWorkspace['policy']['dataRules'],
  provider: Provider,
): string | undefined {
  if (allowedProviders !== undefined && !allowedProviders.includes(provider.id))
    return 'the data rules of the workspace allow none of its providers';
  if (regions !== undefined && !regions.includes(provider.region))
    return 'the data rules of the workspace allow none of its regions';
  if (
    !provider.enabled ||
    config.killSwitches.some(({ scope, target }) => scope === 'provider' && target === provider.id)
  )
    return 'its providers are switched off';
  return undefined;
}
