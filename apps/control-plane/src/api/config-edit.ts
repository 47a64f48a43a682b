import type { ConfigSnapshot, ConfigTable } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { AuditInput } from '../config/config-repository.ts';
import type { ConfigStore } from '../config/config-store.ts';
import { actorOf } from './actor.ts';
import { etagOf, expectedVersion, readPrecondition } from './if-match.ts';
import type { RouteCall } from './route.ts';

/** What a configuration row looks like from outside. */
export interface RowView<T> {
  readonly id: string;
  readonly version: number;
  readonly value: T;
}

/** Every row of a table with its version. */
export function listRows<T extends ConfigTable>(store: ConfigStore, table: T): RowView<ConfigSnapshot[T][string]>[] {
  const rows = store.snapshot()[table] as Record<string, ConfigSnapshot[T][string]>;
  return Object.entries(rows).map(([id, value]) => ({ id, version: store.rowVersion(table, id) ?? 0, value }));
}

/** One row; undefined when there is none of that id. */
export function findRow<T extends ConfigTable>(
  store: ConfigStore,
  table: T,
  id: string,
): ConfigSnapshot[T][string] | undefined {
  const rows = store.snapshot()[table] as Record<string, ConfigSnapshot[T][string]>;
  return Object.hasOwn(rows, id) ? rows[id] : undefined;
}

export interface RowEdit {
  readonly table: ConfigTable;
  readonly id: string;
  /** Absent deletes. */
  readonly value?: unknown;
  /** `<noun>.<verb>` of the audit record. */
  readonly type: string;
  readonly tenant?: string | undefined;
  readonly workspace?: string | undefined;
  /** What the audit record shows of a row; the row itself when absent. */
  readonly show?: (row: unknown) => unknown;
  /** Without `If-Match` the last writer wins; else an edit of an existing row is a 428. */
  readonly lastWriterWins?: boolean;
}

/**
 * Writes or deletes one row in the caller's name, honouring `If-Match`, and sets the new `ETag`; answers the new
 * version.
 */
export async function editRow(store: ConfigStore, call: RouteCall<unknown, unknown>, edit: RowEdit): Promise<number> {
  const show = edit.show ?? ((row: unknown) => row);
  const current = store.rowVersion(edit.table, edit.id);
  if (edit.value === undefined && current === undefined) throw new ProblemError(404, 'Not found');
  const ifVersion = expectedVersion(readPrecondition(call.req), current, edit.lastWriterWins);
  const patch = await store.change({
    changes: [
      {
        table: edit.table,
        id: edit.id,
        ...(edit.value === undefined ? {} : { value: edit.value }),
        ...(ifVersion === undefined ? {} : { ifVersion }),
      },
    ],
    audit: (before): AuditInput[] => {
      const old: unknown = before[edit.table][edit.id];
      return [
        {
          type: edit.type,
          actor: actorOf(call),
          target: { kind: edit.table, id: edit.id },
          ...(edit.tenant === undefined ? {} : { tenant_id: edit.tenant }),
          ...(edit.workspace === undefined ? {} : { workspace: edit.workspace }),
          ...(old === undefined ? {} : { before: show(old) }),
          ...(edit.value === undefined ? {} : { after: show(edit.value) }),
        },
      ];
    },
  });
  if (edit.value !== undefined) call.res.set('etag', etagOf(patch.version));
  return patch.version;
}
