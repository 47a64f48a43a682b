import { mergePolicy, type ConfigSnapshot, type ModelsView } from '@sluice/contracts';
import type { Admitted } from './admit.ts';

/**
 * Models that a provider of the workspace's chain offers and its policy allows, by name; with what the plan's price
 * book bills.
 */
export function modelsOf({ workspace, tenant, may }: Admitted, { plans, models }: ConfigSnapshot): ModelsView {
  const plan = plans[tenant.plan];
  if (plan === undefined) return { rows: [] };
  const { routing, dataRules } = mergePolicy(plan.policy, workspace.override);
  const providers = routing.chain
    .map(({ provider }) => provider)
    .filter((id) => dataRules.allowedProviders?.includes(id) ?? true);
  const rows = Object.values(models)
    .filter(
      ({ id, offers }) =>
        (routing.allowModels?.includes(id) ?? true) && offers.some(({ provider }) => providers.includes(provider)),
    )
    .map((model): ModelsView['rows'][number] => {
      const price = Object.hasOwn(plan.priceBook.prices, model.id) ? plan.priceBook.prices[model.id] : undefined;
      return {
        id: model.id,
        name: model.displayName,
        context_tokens: model.contextTokens,
        max_output_tokens: model.maxOutputTokens,
        abilities: [...model.abilities],
        price:
          price === undefined || !may('cost:read')
            ? null
            : { input_picousd: price.inputPicoUsd, output_picousd: price.outputPicoUsd },
        retires_at: model.retirement?.at ?? null,
        successor: model.retirement?.successor ?? null,
      };
    });
  return { rows: rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)) };
}
