import type {
  ApiKeyRecord,
  Cell,
  KillSwitch,
  LimitScope,
  Model,
  Plan,
  Policy,
  PriceBook,
  Provider,
  Tenant,
  Workspace,
} from '@sluice/contracts';

/**
 * A workspace with everything that a request needs of it, derived when it is first asked for and again when that
 * has changed.
 */
export interface CompiledWorkspace {
  readonly workspace: Workspace;
  readonly tenant: Tenant;
  readonly plan: Plan;
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

/** What is compiled of the rows of one table. */
export interface CompiledTable<V> {
  get(id: string): V | undefined;
  has(id: string): boolean;
  /** Everything, for a look at all; what was in no use before is not kept. */
  values(): Iterable<V>;
}

/**
 * One configuration version. `models`, `providers`, `cells` and `killSwitches` never change; `keys` and
 * `workspaces` are the same tables in all versions and answer by the newest, and what they gave never changes.
 */
export interface CompiledConfig {
  readonly version: number;
  readonly keys: CompiledTable<CompiledKey>;
  /** By slug. */
  readonly workspaces: CompiledTable<CompiledWorkspace>;
  readonly models: ReadonlyMap<string, Model>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly cells: ReadonlyMap<string, Cell>;
  readonly killSwitches: readonly KillSwitch[];
}

/** Whose cell it is; undefined for one that several share, and while nothing is known of it. */
export function tenantOfCell(config: CompiledConfig | undefined, cellId: string): string | undefined {
  const cell = config?.cells.get(cellId);
  return cell?.kind === 'dedicated' ? cell.tenant : undefined;
}
