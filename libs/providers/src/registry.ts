import { systemClock, type Clock, type ProviderAdapter, type ProviderDialect } from '@sluice/contracts';
import { createAnthropicAdapter } from './anthropic/adapter.ts';
import { createOpenaiAdapter } from './openai/adapter.ts';

/** The adapters that exist, by dialect. */
export interface AdapterRegistry {
  /** Undefined for a dialect that is declared and has no adapter yet. */
  readonly get: (dialect: ProviderDialect) => ProviderAdapter | undefined;
}

export function createAdapterRegistry({ clock = systemClock }: { clock?: Pick<Clock, 'now'> } = {}): AdapterRegistry {
  const adapters = new Map(
    [createOpenaiAdapter({ clock }), createAnthropicAdapter({ clock })].map((adapter) => [adapter.dialect, adapter]),
  );
  return { get: (dialect) => adapters.get(dialect) };
}
