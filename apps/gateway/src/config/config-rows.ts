import { CONFIG_ROW, CONFIG_TABLES, type ConfigPatch, type ConfigTable } from '@sluice/contracts';
import { createConfigRowReader, type ConfigRow } from '@sluice/service-kit';
import { z } from 'zod';
import type { Log } from '../log.ts';

/** The rows of each table by id. */
export type ConfigTables = { readonly [T in ConfigTable]: ReadonlyMap<string, ConfigRow<T>> };

/**
 * The rows of one configuration, changed in place: a patch costs what it changes, however many workspaces there
 * are. A row itself is never changed, so whoever holds one keeps what it held.
 */
export interface ConfigRows {
  /** Of the last patch. */
  readonly version: number;
  readonly tables: ConfigTables;
  /** A row that is not valid is logged by its id and left out. */
  put(table: ConfigTable, id: string, row: unknown): void;
  /** Of a configuration that was read row by row. */
  setVersion(version: number): void;
  /**
   * All of a patch or, when it throws, nothing.
   *
   * @throws RangeError when the patch does not follow the version (ask for a whole snapshot then).
   * @throws ZodError when a row is not valid.
   */
  apply(patch: ConfigPatch): void;
}

export function createConfigRows(logger: Log): ConfigRows {
  const tables = Object.fromEntries(CONFIG_TABLES.map((table) => [table, new Map()])) as {
    [T in ConfigTable]: Map<string, ConfigRow<T>>;
  };
  const read = createConfigRowReader(logger);
  let version = 0;

  /** An id that is the name of another row is that row's own text, which saves a third of 100,000 workspaces' texts. */
  function shareIds(table: ConfigTable, row: object): void {
    if (table === 'workspaces') {
      const workspace = row as ConfigRow<'workspaces'>;
      workspace.tenant = tables.tenants.get(workspace.tenant)?.id ?? workspace.tenant;
    } else if (table === 'keys') {
      const key = row as ConfigRow<'keys'>;
      key.workspace = tables.workspaces.get(key.workspace)?.slug ?? key.workspace;
    }
  }

  function put(table: ConfigTable, id: string, value: unknown): void {
    const row = read(table, id, value);
    if (row === undefined) return;
    shareIds(table, row);
    (tables[table] as Map<string, ConfigRow>).set(ownId(table, row) === id ? ownId(table, row) : id, row);
  }

  return {
    tables,
    get version() {
      return version;
    },
    put,
    setVersion: (value) => (version = value),
    apply(patch) {
      if (patch.version !== version + 1)
        throw new RangeError(`patch ${patch.version} does not follow version ${version}`);
      for (const { table, value } of patch.changes) if (value !== undefined) CONFIG_ROW[table].parse(value);
      for (const { table, id, value } of patch.changes) {
        if (value === undefined) tables[table].delete(id);
        else put(table, id, value);
      }
      version = patch.version;
    },
  };
}

const Envelope = z.object({
  version: z.int().min(1),
  ...(Object.fromEntries(CONFIG_TABLES.map((table) => [table, z.record(z.string(), z.unknown())])) as Record<
    ConfigTable,
    z.ZodRecord<z.ZodString, z.ZodUnknown>
  >),
});

/**
 * The rows of a snapshot that is in memory as a whole.
 *
 * @throws ZodError when it is not a snapshot at all.
 */
export function readConfigRows(value: unknown, logger: Log): ConfigRows {
  const snapshot = Envelope.parse(value);
  const rows = createConfigRows(logger);
  for (const table of CONFIG_TABLES) for (const [id, row] of Object.entries(snapshot[table])) rows.put(table, id, row);
  rows.setVersion(snapshot.version);
  return rows;
}

/** The id as the row itself holds it; the text by which the row came is a copy. */
function ownId(table: ConfigTable, row: ConfigRow): string {
  if (table === 'workspaces') return (row as ConfigRow<'workspaces'>).slug;
  return table === 'keys' ? (row as ConfigRow<'keys'>).keyId : (row as { readonly id: string }).id;
}
