import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  applyPatch,
  CONFIG_ROW,
  parseApiKey,
  PLATFORM_TABLES,
  type ApiKeyRecord,
  type ConfigSnapshot,
  type PlatformChange,
  type PlatformDocument,
  type PlatformTable,
  type Provider,
  type ProviderInput,
  type Tenant,
} from '@sluice/contracts';
import type { FieldFault, SecretBox } from '@sluice/service-kit';
import { digestOf } from './api-key.ts';
import { ID_FIELD } from './config-rows.ts';
import type { RowChange } from './config-store.ts';
import { keepDerived } from './derived-window.ts';
import { diffValues } from './diff-rows.ts';
import { findFaults } from './find-faults.ts';
import { findTransitionFaults } from './find-transition-faults.ts';
import { maskProvider, sealProvider } from './provider-secrets.ts';

export interface PlatformPlan {
  /** What has to be written to get there. */
  readonly changes: readonly RowChange[];
  /** The same for people's eyes, without secrets. */
  readonly shown: readonly PlatformChange[];
  /** Rows of the document's sections that it does not name, and that stay. */
  readonly undeclared: readonly { readonly table: PlatformTable; readonly id: string }[];
  /** What is wrong, by paths of the document such as `plans.2.policy.priority`; nothing may be written then. */
  readonly faults: readonly FieldFault[];
}

interface Planning {
  readonly document: PlatformDocument;
  readonly prune: boolean;
  readonly before: ConfigSnapshot;
  readonly box: SecretBox | undefined;
  /** RFC 3339; when new keys are made. */
  readonly at: string;
}

/** What a declared platform changes of a configuration. Declaring what is there already changes nothing. */
export function planPlatform(planning: Planning): PlatformPlan {
  const { document, prune, before } = planning;
  const changes: RowChange[] = [];
  const shown: PlatformChange[] = [];
  const undeclared: PlatformPlan['undeclared'][number][] = [];
  const faults: FieldFault[] = [];
  const placeOf = new Map<string, string>();

  for (const table of PLATFORM_TABLES) {
    const declared = document[table];
    if (declared === undefined) continue;
    const rows = before[table] as Readonly<Record<string, unknown>>;
    declared.forEach((input, i) => {
      const id = String(Reflect.get(input, ID_FIELD[table]));
      const place = `${table}.${i}`;
      if (placeOf.has(`${table}/${id}`)) {
        faults.push({ path: `${place}.${ID_FIELD[table]}`, message: `${id} is declared twice` });
        return;
      }
      placeOf.set(`${table}/${id}`, place);
      const old = Object.hasOwn(rows, id) ? rows[id] : undefined;
      const made = storedRow(table, input, old, planning);
      if ('faults' in made) {
        faults.push(...made.faults.map((fault) => ({ path: `${place}.${fault.path}`, message: fault.message })));
        return;
      }
      if (isDeepStrictEqual(made.row, old)) return;
      changes.push({ table, id, value: made.row });
      const fields = diffValues(shownRow(table, old), shownRow(table, made.row));
      // What is not shown of a row is its secrets.
      shown.push({
        table,
        id,
        action: old === undefined ? 'create' : 'update',
        fields: fields.length > 0 ? fields : [{ path: 'credentials', after: 'another stored secret' }],
      });
    });
    for (const id of Object.keys(rows).toSorted()) {
      if (placeOf.has(`${table}/${id}`)) continue;
      if (!prune) undeclared.push({ table, id });
      else {
        changes.push({ table, id });
        shown.push({ table, id, action: 'delete', fields: [] });
      }
    }
  }
  if (faults.length === 0 && changes.length > 0) faults.push(...faultsAfter(before, changes, placeOf));
  return { changes, shown, undeclared, faults };
}

/** A declared row as it is stored. */
function storedRow(
  table: PlatformTable,
  input: object,
  old: unknown,
  { box, at }: Planning,
): { row: unknown } | { faults: FieldFault[] } {
  switch (table) {
    case 'providers': {
      const sealed = sealProvider(input as ProviderInput, old as Provider | undefined, box);
      return 'faults' in sealed ? sealed : { row: sealed.provider };
    }
    case 'workspaces': {
      const uuid: unknown = Reflect.get(input, 'uuid') ?? (old as { uuid?: string } | undefined)?.uuid ?? randomUUID();
      return { row: CONFIG_ROW.workspaces.parse({ ...input, uuid }) };
    }
    case 'tenants':
      return { row: keepDerived(input as Tenant, old as Tenant | undefined) };
    case 'keys':
      return storedKey(input as NonNullable<PlatformDocument['keys']>[number], old as ApiKeyRecord | undefined, at);
    default:
      return { row: input };
  }
}

function storedKey(
  { key, ...rest }: NonNullable<PlatformDocument['keys']>[number],
  old: ApiKeyRecord | undefined,
  at: string,
): { row: ApiKeyRecord } | { faults: FieldFault[] } {
  if (key === undefined && old === undefined)
    return { faults: [{ path: 'key', message: `there is no key ${rest.keyId}; give the whole key to make it` }] };
  if (key !== undefined && parseApiKey(key)?.keyId !== rest.keyId)
    return { faults: [{ path: 'keyId', message: 'must be the id that the key holds' }] };
  const digest = key === undefined ? (old?.digest ?? '') : digestOf(key);
  if (old !== undefined && old.digest !== digest)
    return { faults: [{ path: 'key', message: `is not the key that ${rest.keyId} names; rotate it instead` }] };
  return { row: { ...rest, digest, createdAt: old?.createdAt ?? at } };
}

/** A row as a diff may show it. */
function shownRow(table: PlatformTable, row: unknown): unknown {
  if (row === undefined) return {};
  if (table === 'providers') return maskProvider(row as Provider);
  if (table !== 'keys') return row;
  const { digest: _digest, ...rest } = row as ApiKeyRecord;
  return rest;
}

/**
 * Faults of the configuration as it would be, at the places of the document that cause them; of rows elsewhere by
 * their names.
 */
function faultsAfter(
  before: ConfigSnapshot,
  changes: readonly RowChange[],
  placeOf: ReadonlyMap<string, string>,
): FieldFault[] {
  const patch = {
    version: before.version + 1,
    changes: changes.map(({ table, id, value }) => ({ table, id, ...(value === undefined ? {} : { value }) })),
  };
  const after = applyPatch(before, patch);
  return [...findTransitionFaults(before, after, changes), ...findFaults(after)].map(
    ({ table, id, path, message }) => ({
      path: `${placeOf.get(`${table}/${id}`) ?? `${table}.${id}`}.${path}`,
      message,
    }),
  );
}
