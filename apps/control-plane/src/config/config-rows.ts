import { CONFIG_ROW, type ConfigSnapshot, type ConfigTable } from '@sluice/contracts';
import { notOffered } from './not-offered.ts';
import type { RowFault } from './row-fault.ts';

/** Which field of a row holds the id that it is stored under. */
export const ID_FIELD = {
  tenants: 'id',
  workspaces: 'slug',
  keys: 'keyId',
  plans: 'id',
  providers: 'id',
  models: 'id',
  cells: 'id',
  killSwitches: 'id',
} as const satisfies Record<ConfigTable, string>;

/** A path as the service kit writes it: `chain.1.provider`. */
export function fieldPath(path: readonly PropertyKey[]): string {
  return path.map(String).join('.');
}

/**
 * Parses a row strictly; a row whose own id differs from the id it is stored under, or that asks for what is not
 * offered, is a fault too.
 */
export function parseRow(table: ConfigTable, id: string, value: unknown): { value: unknown } | { faults: RowFault[] } {
  const parsed = CONFIG_ROW[table].safeParse(value);
  if (!parsed.success) {
    return { faults: parsed.error.issues.map((i) => ({ table, id, path: fieldPath(i.path), message: i.message })) };
  }
  const idField = ID_FIELD[table];
  const own: unknown = Reflect.get(parsed.data, idField);
  if (own !== id)
    return { faults: [{ table, id, path: idField, message: `must be ${id}, the name it is stored under` }] };
  const faults = notOffered(table, id, parsed.data);
  return faults.length > 0 ? { faults } : { value: parsed.data };
}

/** A configuration with nothing in it, to which the rows of the first seed are added. */
export function emptySnapshot(version: number): ConfigSnapshot {
  return {
    version,
    tenants: {},
    workspaces: {},
    keys: {},
    plans: {},
    providers: {},
    models: {},
    cells: {},
    killSwitches: {},
  };
}
