import type { ConfigSnapshot, Routing } from '@sluice/contracts';

/**
 * Rules of a whole policy about which model is used that could never act; nobody would notice that they do not.
 *
 * @param path of the routing in its row.
 */
export function checkModelRules(
  config: ConfigSnapshot,
  routing: Routing,
  path: string,
  report: (path: string, message: string) => void,
): void {
  const { allowModels, budgetDowngrade, defaultModel, learned } = routing;
  checkRule('budgetDowngrade.model', budgetDowngrade?.model);
  checkRule('defaultModel', defaultModel);
  if (learned && allowModels?.length === 1)
    report(`${path}.learned`, 'has nothing to choose from, because allowModels names one model');

  function checkRule(field: string, id: string | undefined): void {
    const model = id === undefined || !Object.hasOwn(config.models, id) ? undefined : config.models[id];
    if (model === undefined) return;
    const offered = routing.chain.some(
      (link) => (link.model ?? model.id) === model.id && model.offers.some((offer) => offer.provider === link.provider),
    );
    if (!offered)
      report(`${path}.${field}`, `no provider of the chain offers model ${model.id}, so that it could never be used`);
    else if (allowModels?.includes(model.id) === false)
      report(`${path}.${field}`, `model ${model.id} is not one of allowModels, so that it could never be used`);
    else if (!model.abilities.includes('chat')) report(`${path}.${field}`, `model ${model.id} cannot be used for chat`);
  }
}
