import type { Operation, ProviderDialect } from '@sluice/contracts';
import type { CompiledConfig, CompiledWorkspace } from '../compiled-config.ts';
import { type AdapterLookup, serviceOf } from '../planning/static-plan.ts';

/** The other dialects to which the workspace's chain may have to carry a call, each once. */
export function translationsOf(
  config: CompiledConfig,
  { policy }: CompiledWorkspace,
  operation: Operation,
  adapters: AdapterLookup,
): { readonly dialect: ProviderDialect; readonly carryFields: readonly string[] }[] {
  const found = new Map<string, { readonly dialect: ProviderDialect; readonly carryFields: readonly string[] }>();
  for (const link of policy.routing.chain) {
    const provider = config.providers.get(link.provider);
    if (provider === undefined || serviceOf(adapters(provider.dialect), operation) !== 'translated') continue;
    const { dialect, carryFields } = provider;
    found.set(`${dialect} ${carryFields.join()}`, { dialect, carryFields });
  }
  return [...found.values()];
}
