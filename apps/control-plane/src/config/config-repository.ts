import type { AuditEvent, ConfigPatch, ConfigTable } from '@sluice/contracts';

/** A row as it is stored; `version` is the configuration version that wrote it last. */
export interface StoredRow {
  readonly table: ConfigTable;
  readonly id: string;
  readonly value: unknown;
  readonly version: number;
}

export interface StoredConfig {
  /** 0 when nothing was ever stored. */
  readonly version: number;
  readonly rows: readonly StoredRow[];
}

/** What a change says of itself in the audit log; id and time are added where it is recorded. */
export type AuditInput = Omit<AuditEvent, 'schema' | 'event_id' | 'occurred_at' | 'traceparent'>;

/** Another writer stored this version first; nothing was written. */
export class VersionTakenError extends Error {
  override readonly name = 'VersionTakenError';
}

/** A slug that another tenant's workspace had: its ledger rows carry it, so nobody else ever gets it. */
export class SlugRetiredError extends Error {
  override readonly name = 'SlugRetiredError';
  readonly slug: string;
  constructor(slug: string) {
    super(`the slug ${slug} belonged to another tenant's workspace`);
    this.slug = slug;
  }
}

/** The id of a tenant that was deleted: its ledger rows carry it, so nobody else ever gets it. */
export class TenantRetiredError extends Error {
  override readonly name = 'TenantRetiredError';
  readonly id: string;
  constructor(id: string) {
    super(`the id ${id} belonged to a tenant that was deleted`);
    this.id = id;
  }
}

/** The durable side of the configuration. */
export interface ConfigRepository {
  load(): Promise<StoredConfig>;
  /** Patches after `version`, in order; undefined when the log does not reach that far back. */
  patchesAfter(version: number): Promise<ConfigPatch[] | undefined>;
  /**
   * Writes rows, log entry and audit records in one transaction. Slugs of deleted workspaces are remembered with
   * their tenant, and ids of deleted tenants.
   *
   * @throws SlugRetiredError for a workspace whose slug another tenant had.
   * @throws TenantRetiredError for a new tenant by the id of a deleted one.
   * @throws VersionTakenError when the patch's version exists already.
   */
  commit(patch: ConfigPatch, audit: readonly AuditInput[]): Promise<void>;
}
