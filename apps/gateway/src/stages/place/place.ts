import type { Refusal } from '@sluice/contracts';
import type { CompiledConfig, CompiledKey } from '../../compiled-config.ts';
import type { Stage } from '../../stage.ts';

export interface PlaceDeps {
  /** Hosts `<slug>.<baseDomain>` name a workspace; any other host means the key's own. */
  readonly baseDomain: string;
  readonly cellId: string;
}

/** Puts the request into its workspace and cell. It comes after the key, or it would tell strangers who exists. */
export function createPlaceStage({ baseDomain, cellId }: PlaceDeps): Stage {
  const placeRequest = createPlacer({ baseDomain, cellId });
  return {
    name: 'place',
    run: (call) => placeRequest(call.config, call.key as CompiledKey, call.request.headers.host),
  };
}

/** Judges host and cell of an authenticated request; undefined when it is in the right place. */
export function createPlacer({
  baseDomain,
  cellId,
}: PlaceDeps): (config: CompiledConfig, key: CompiledKey, host: string | undefined) => Refusal | undefined {
  const suffix = `.${baseDomain.toLowerCase()}`;
  return (config, key, host) => {
    const slug = host === undefined ? undefined : slugOf(host, suffix);
    const { workspace } = key.workspace;
    if (slug !== undefined && slug !== workspace.slug) {
      return config.workspaces.has(slug) ? { code: 'unauthenticated' } : { code: 'workspace_unknown' };
    }
    return workspace.cellId === cellId ? undefined : { code: 'wrong_cell' };
  };
}

function slugOf(host: string, suffix: string): string | undefined {
  const colon = host.indexOf(':');
  const name = (colon === -1 ? host : host.slice(0, colon)).toLowerCase();
  const bare = name.endsWith('.') ? name.slice(0, -1) : name;
  return bare.endsWith(suffix) ? bare.slice(0, -suffix.length) : undefined;
}
