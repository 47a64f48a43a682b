import type { KeysView, NewKeyRequest } from '@sluice/contracts';

/**
 * A key that may do what `old` may and lives as long from now on; the limits of a key are not among what a person
 * can set.
 */
export function replacementOf(old: KeysView['rows'][number], nowMs: number): NewKeyRequest {
  const lifetimeMs = old.expires_at === null ? undefined : Date.parse(old.expires_at) - Date.parse(old.created_at);
  return {
    name: old.name,
    ...(lifetimeMs === undefined ? {} : { expires_at: new Date(nowMs + lifetimeMs).toISOString() }),
    ...(old.allow_models === null ? {} : { allow_models: old.allow_models }),
    ...(old.allow_addresses === null ? {} : { allow_addresses: old.allow_addresses }),
  };
}
