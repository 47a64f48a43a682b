import type { ApiKeyRecord, KillSwitch, LimitScope, Model, Policy, PriceBook, Provider, Tenant, Workspace } from '@sluice/contracts';

/** A workspace with everything that a request needs of it, derived once per configuration version. */
export interface CompiledWorkspace {
  readonly workspace: Workspace;
  readonly tenant: Tenant;
  readonly policy: Policy;
  readonly priceBook: PriceBook;
  /** Limits of tenant and workspace, for use that belongs to no key any more. */
  readonly scope: LimitScope;
  /** Set when workspace, or everything, is switched off. */
  readonly killSwitch: KillSwitch | undefined;
}

/** A key with its workspace and the limits of all three levels. */
export interface CompiledKey {
  readonly record: ApiKeyRecord;
  readonly digest: Buffer;
  readonly expiresAtMs: number;
  readonly workspace: CompiledWorkspace;
  readonly scope: LimitScope;
  readonly allowsAddress: (address: string) => boolean;
}

/** One configuration version, compiled for look-ups; never changed, replaced as a whole. */
export interface CompiledConfig {
  readonly version: number;
  readonly keys: ReadonlyMap<string, CompiledKey>;
  /** By slug. */
  readonly workspaces: ReadonlyMap<string, CompiledWorkspace>;
  readonly models: ReadonlyMap<string, Model>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly killSwitches: readonly KillSwitch[];
}
