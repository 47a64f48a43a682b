import type { ConfigPatch, Workspace } from '@sluice/contracts';
import {
  SlugRetiredError,
  TenantRetiredError,
  VersionTakenError,
  type AuditInput,
  type ConfigRepository,
  type StoredRow,
} from './config-repository.ts';

/** A repository without a database, for tests; it also shows what was audited, and can be made to fail. */
export interface MemoryConfigRepository extends ConfigRepository {
  readonly audited: AuditInput[];
  failWith(error: Error | undefined): void;
}

/** An empty one. */
export function createMemoryConfigRepository(): MemoryConfigRepository {
  const rows = new Map<string, StoredRow>();
  const log: ConfigPatch[] = [];
  const retired = new Map<string, string>();
  const retiredTenants = new Set<string>();
  const audited: AuditInput[] = [];
  let failure: Error | undefined;
  const version = (): number => log.at(-1)?.version ?? 0;
  const guard = (): void => {
    if (failure !== undefined) throw failure;
  };
  return {
    audited,
    failWith: (error) => {
      failure = error;
    },
    load: async () => {
      guard();
      return { version: version(), rows: [...rows.values()] };
    },
    patchesAfter: async (since) => {
      guard();
      return log.filter((patch) => patch.version > since);
    },
    commit: async (patch, audit) => {
      guard();
      if (patch.version !== version() + 1) throw new VersionTakenError(`version ${patch.version} is taken`);
      for (const { table, id, value } of patch.changes) {
        if (table === 'tenants') {
          if (value === undefined) retiredTenants.add(id);
          else if (retiredTenants.has(id) && !rows.has(`tenants/${id}`)) throw new TenantRetiredError(id);
        }
        if (table !== 'workspaces') continue;
        const owner = retired.get(id);
        if (value !== undefined && owner !== undefined && owner !== (value as Workspace).tenant)
          throw new SlugRetiredError(id);
        const old = rows.get(`workspaces/${id}`);
        if (value === undefined && old !== undefined) retired.set(id, (old.value as Workspace).tenant);
      }
      for (const { table, id, value } of patch.changes) {
        if (value === undefined) rows.delete(`${table}/${id}`);
        else rows.set(`${table}/${id}`, { table, id, value, version: patch.version });
      }
      log.push(patch);
      audited.push(...audit);
    },
  };
}
