import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { CONFIG_ROW, ProviderInput, type ConfigSnapshot, type PlatformDocument } from '@sluice/contracts';
import type { PersonAccount } from '../accounts/account-store.ts';
import { withoutDerived } from './derived-window.ts';
import { maskProvider } from './provider-secrets.ts';

/**
 * The configuration as a document that `apply` takes back and finds nothing to do in: rows in the order of their ids,
 * without what is a default anyway, keys without secrets, stored secrets as being there, people without passwords.
 */
export function exportPlatform(config: ConfigSnapshot, people: readonly PersonAccount[]): PlatformDocument {
  return {
    cells: rowsOf(config.cells).map((row) => withoutDefaults(CONFIG_ROW.cells, row)),
    providers: rowsOf(config.providers).map((row) => withoutDefaults(ProviderInput, maskProvider(row))),
    models: rowsOf(config.models).map((row) => withoutDefaults(CONFIG_ROW.models, row)),
    plans: rowsOf(config.plans).map((row) => withoutDefaults(CONFIG_ROW.plans, row)),
    tenants: rowsOf(config.tenants).map((row) => withoutDefaults(CONFIG_ROW.tenants, withoutDerived(row))),
    workspaces: rowsOf(config.workspaces).map((row) => withoutDefaults(CONFIG_ROW.workspaces, row)),
    keys: rowsOf(config.keys).map(({ digest: _digest, createdAt: _createdAt, ...row }) => row),
    users: people
      .map(({ email, roles }) => ({ email, roles: { ...roles } }))
      .sort((a, b) => (a.email < b.email ? -1 : 1)),
  };
}

function rowsOf<T>(table: Readonly<Record<string, T>>): T[] {
  return Object.keys(table)
    .toSorted()
    .map((id) => table[id] as T);
}

/** The row without fields that the schema fills in with the same value. */
function withoutDefaults<T extends object>(schema: z.ZodType<T>, row: T): T {
  const whole = schema.parse(row);
  const lean: Record<string, unknown> = structuredClone(whole) as Record<string, unknown>;
  prune(lean, lean, schema, whole, 0);
  return lean as T;
}

const DEEPEST = 3;

function prune(
  at: Record<string, unknown>,
  root: Record<string, unknown>,
  schema: z.ZodType,
  whole: object,
  depth: number,
): void {
  for (const name of Object.keys(at)) {
    const value = at[name];
    delete at[name];
    const parsed = schema.safeParse(root);
    if (parsed.success && isDeepStrictEqual(parsed.data, whole)) continue;
    at[name] = value;
    if (depth < DEEPEST && typeof value === 'object' && value !== null && !Array.isArray(value))
      prune(value as Record<string, unknown>, root, schema, whole, depth + 1);
  }
}
