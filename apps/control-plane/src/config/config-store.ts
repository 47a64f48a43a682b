import { applyPatch, type ConfigPatch, type ConfigSnapshot, type ConfigTable } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import { emptySnapshot, parseRow } from './config-rows.ts';
import type { RowFault } from './row-fault.ts';
import {
  SlugRetiredError,
  TenantRetiredError,
  VersionTakenError,
  type AuditInput,
  type ConfigRepository,
} from './config-repository.ts';
import { findFaults } from './find-faults.ts';
import { findTransitionFaults } from './find-transition-faults.ts';

export interface RowChange {
  readonly table: ConfigTable;
  readonly id: string;
  /** Absent deletes. */
  readonly value?: unknown;
  /**
   * The version that the writer has seen, or that there is none; 412 when the row has moved on. Absent writes
   * whatever is there.
   */
  readonly ifVersion?: number | 'absent';
}

export interface ChangeRequest {
  /** The version of the whole configuration that the changes were made for; 412 when there is another by now. */
  readonly ifConfigVersion?: number;
  readonly changes: readonly RowChange[];
  /** Made with the rows as they were, so that `before` is what this change replaced. */
  readonly audit: (before: ConfigSnapshot) => readonly AuditInput[];
}

/** The configuration: an immutable snapshot in memory, every change durable before it is seen. */
export interface ConfigStore {
  /** @throws ProblemError 503 before `load` has succeeded. */
  snapshot(): ConfigSnapshot;
  readonly version: number;
  /** The configuration version that wrote the row last; undefined when there is no such row. */
  rowVersion(table: ConfigTable, id: string): number | undefined;
  load(): Promise<void>;
  /**
   * Applies all changes or none, as one new version.
   *
   * @throws ProblemError 400 with field paths, 404 for deleting what is not there, 409 for deleting what others
   * use, 412 with both versions, 503 without the database.
   */
  change(request: ChangeRequest): Promise<ConfigPatch>;
  /** Patches after `since`; undefined when memory does not reach that far back and a whole snapshot is due. */
  patchesSince(since: number): readonly ConfigPatch[] | undefined;
  /** Calls the listener with every patch, in order, until the returned function is called. */
  subscribe(listener: (patch: ConfigPatch) => void): () => void;
}

/** Patches kept for gateways that were away. */
const PATCHES_KEPT = 200;

export function createConfigStore(deps: { repository: ConfigRepository; patchesKept?: number }): ConfigStore {
  const kept = deps.patchesKept ?? PATCHES_KEPT;
  const listeners = new Set<(patch: ConfigPatch) => void>();
  let current: ConfigSnapshot | undefined;
  let rowVersions = new Map<string, number>();
  let patches: ConfigPatch[] = [];
  /** Set when a commit's outcome is unknown: the database is asked before the next change. */
  let doubtful = false;
  let last: Promise<unknown> = Promise.resolve();

  function snapshot(): ConfigSnapshot {
    if (current === undefined)
      throw new ProblemError(503, 'No configuration yet', {
        type: 'no-configuration',
        detail: 'The database has not answered since this process started.',
      });
    return current;
  }

  function accept(next: ConfigSnapshot, patch: ConfigPatch): void {
    current = next;
    for (const { table, id, value } of patch.changes) {
      if (value === undefined) rowVersions.delete(rowKey(table, id));
      else rowVersions.set(rowKey(table, id), patch.version);
    }
    patches.push(patch);
    if (patches.length > kept) patches = patches.slice(-kept);
    for (const listener of listeners) listener(patch);
  }

  /** Takes over what the database holds beyond memory, as patches, so that subscribers miss nothing. */
  async function catchUp(): Promise<void> {
    const missing = await deps.repository.patchesAfter(snapshot().version);
    if (missing === undefined) throw new Error('the configuration log has a gap');
    for (const patch of missing) accept(applyPatch(snapshot(), patch), patch);
    doubtful = false;
  }

  async function attempt(request: ChangeRequest): Promise<ConfigPatch> {
    if (doubtful) await catchUp();
    const before = snapshot();
    const { ifConfigVersion } = request;
    if (ifConfigVersion !== undefined && ifConfigVersion !== before.version)
      throw stale(ifConfigVersion, before.version);
    const patch: ConfigPatch = {
      version: before.version + 1,
      changes: request.changes.map((change) => prepare(change)),
    };
    const after = applyPatch(before, patch);
    const faults = [...findTransitionFaults(before, after, request.changes), ...findFaults(after)];
    if (faults.length > 0)
      throw request.changes.every(({ value }) => value === undefined)
        ? inUse(faults)
        : invalid(faults, request.changes);
    await deps.repository.commit(patch, request.audit(before));
    accept(after, patch);
    return patch;
  }

  function prepare({ table, id, value, ifVersion }: RowChange): ConfigPatch['changes'][number] {
    const at = rowVersions.get(rowKey(table, id));
    if (ifVersion === 'absent' ? at !== undefined : ifVersion !== undefined && ifVersion !== at)
      throw stale(ifVersion ?? 'absent', at);
    if (value === undefined) {
      if (at === undefined) throw new ProblemError(404, 'Not found');
      return { table, id };
    }
    const parsed = parseRow(table, id, value);
    if ('faults' in parsed) throw invalid(parsed.faults, [{ table, id }]);
    return { table, id, value: parsed.value };
  }

  async function change(request: ChangeRequest): Promise<ConfigPatch> {
    try {
      return await attempt(request);
    } catch (error) {
      if (error instanceof ProblemError) throw error;
      if (error instanceof SlugRetiredError) throw slugRetired(error.slug, request.changes);
      if (error instanceof TenantRetiredError) throw tenantRetired(error.id, request.changes);
      doubtful = true;
      if (!(error instanceof VersionTakenError)) throw unavailable(error);
    }
    try {
      return await attempt(request);
    } catch (error) {
      throw error instanceof ProblemError ? error : unavailable(error);
    }
  }

  return {
    snapshot,
    get version() {
      return current?.version ?? 0;
    },
    rowVersion: (table, id) => rowVersions.get(rowKey(table, id)),
    load: async () => {
      const stored = await deps.repository.load();
      if (stored.version === 0) return;
      let next = emptySnapshot(stored.version);
      const changes = stored.rows.map(({ table, id, value }) => ({ table, id, value }));
      if (changes.length > 0)
        next = { ...applyPatch({ ...next, version: stored.version - 1 }, { version: stored.version, changes }) };
      current = next;
      rowVersions = new Map(stored.rows.map((row) => [rowKey(row.table, row.id), row.version]));
      patches = [];
    },
    change: (request) => {
      const mine = last.then(() => change(request));
      last = mine.catch(() => undefined);
      return mine;
    },
    patchesSince: (since) => {
      const version = current?.version ?? 0;
      if (since === version) return [];
      const missing = patches.filter((patch) => patch.version > since);
      return since > 0 && missing.length === version - since ? missing : undefined;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const rowKey = (table: ConfigTable, id: string): string => `${table}/${id}`;

function stale(seen: number | 'absent', at: number | undefined): ProblemError {
  if (seen === 'absent') {
    return new ProblemError(412, 'It exists already', {
      type: 'stale',
      detail: `It is there at version ${at}; it was to be made anew.`,
      headers: { etag: `"${at}"` },
    });
  }
  const now = at === undefined ? 'it does not exist any more' : `it is at version ${at}`;
  return new ProblemError(412, 'Changed in the meantime', {
    detail: `You have seen version ${seen}; ${now}. Read it again and repeat the change.`,
    type: 'stale',
    versions: { yours: seen, current: at ?? null },
    ...(at === undefined ? {} : { headers: { etag: `"${at}"` } }),
  });
}

/** Faults that are told of; a change that breaks more says how many more. */
const FAULTS_TOLD = 100;

/** What others point at stays; the answer names them. */
function inUse(faults: readonly RowFault[]): ProblemError {
  const users = [...new Set(faults.map(({ table, id }) => `${table}/${id}`))];
  const named = users.slice(0, 10).join(', ');
  return new ProblemError(409, 'It is in use', {
    type: 'in-use',
    detail: `Used by ${named}${users.length > 10 ? ` and ${users.length - 10} more` : ''}. Change or remove those first.`,
    errors: faults
      .slice(0, FAULTS_TOLD)
      .map((fault) => ({ path: `${fault.table}.${fault.id}.${fault.path}`, message: fault.message })),
  });
}

/** Paths are relative to the row that is written; a fault that the change causes elsewhere names its row. */
function invalid(faults: readonly RowFault[], changes: readonly { table: ConfigTable; id: string }[]): ProblemError {
  const own = (fault: RowFault): boolean => changes.some(({ table, id }) => fault.table === table && fault.id === id);
  return new ProblemError(400, 'The change is not possible', {
    type: 'invalid-configuration',
    ...(faults.length > FAULTS_TOLD ? { detail: `${faults.length - FAULTS_TOLD} more faults are not told.` } : {}),
    errors: faults.slice(0, FAULTS_TOLD).map((fault) => ({
      path: own(fault) ? fault.path : `${fault.table}.${fault.id}.${fault.path}`,
      message: fault.message,
    })),
  });
}

function slugRetired(slug: string, changes: readonly { table: ConfigTable; id: string }[]): ProblemError {
  return invalid(
    [
      {
        table: 'workspaces',
        id: slug,
        path: 'slug',
        message: `${slug} belonged to another tenant's workspace, whose usage is kept under it; choose another`,
      },
    ],
    changes,
  );
}

function tenantRetired(id: string, changes: readonly { table: ConfigTable; id: string }[]): ProblemError {
  return invalid(
    [
      {
        table: 'tenants',
        id,
        path: 'id',
        message: `${id} belonged to a tenant that was deleted, whose usage is kept under it; choose another`,
      },
    ],
    changes,
  );
}

function unavailable(cause: unknown): ProblemError {
  return new ProblemError(503, 'The change could not be stored', {
    type: 'database-unavailable',
    detail: 'The database does not answer; nothing was changed as far as is known.',
    headers: { 'retry-after': '2' },
    cause,
  });
}
