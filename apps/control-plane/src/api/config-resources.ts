import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import {
  Cell,
  KillSwitch,
  Model,
  Name,
  Plan,
  ProviderDialect,
  Slug,
  Tenant,
  TenantStatus,
  Workspace,
  type ConfigSnapshot,
  type ConfigTable,
} from '@sluice/contracts';
import { keepDerived } from '../config/derived-window.ts';
import type { RouteAuth } from './route.ts';

type Row<T extends ConfigTable> = ConfigSnapshot[T][string];

/** How one table of the configuration is read and written through the API. */
export interface ConfigResource {
  readonly table: ConfigTable;
  /** Below `/api/`. */
  readonly path: string;
  /** As people call one of them: `kill switch`. */
  readonly noun: string;
  /** First part of the audit record's type. */
  readonly audit: string;
  readonly write: RouteAuth;
  /** A row as it is shown, for lists. */
  readonly view: z.ZodType;
  /** A row as it is written; its own id may be left out, because the path says it. */
  readonly input: z.ZodType;
  readonly idField: string;
  /** Query fields of the list: what the field must be, and what it is compared with in a row. */
  readonly filters: Readonly<
    Record<string, { readonly schema: z.ZodType; readonly of: (row: never) => readonly unknown[] }>
  >;
  /** Makes the row to be stored of what was written and what was there. @throws ProblemError 400 when it cannot. */
  readonly complete?: (input: Record<string, unknown>, old: unknown) => Record<string, unknown>;
  /** Tenant and workspace that the audit record is filed under. */
  readonly owner?: (row: never) => { tenant?: string; workspace?: string };
  /** A row as it may be shown, here and in the audit log; the row itself when absent. */
  readonly show?: (row: unknown) => unknown;
  readonly lastWriterWins?: true;
}

const flag = z.enum(['true', 'false']).transform((text) => text === 'true');

function filter<T extends ConfigTable>(
  schema: z.ZodType,
  of: (row: Row<T>) => readonly unknown[],
): ConfigResource['filters'][string] {
  return { schema: schema.optional(), of: of as (row: never) => readonly unknown[] };
}

/** The tables that need no more than that; providers and keys hold secrets and have routes of their own. */
export const CONFIG_RESOURCES: readonly ConfigResource[] = [
  {
    table: 'tenants',
    path: 'tenants',
    noun: 'tenant',
    audit: 'tenant',
    write: 'admin',
    view: Tenant,
    input: Tenant.partial({ id: true }),
    idField: 'id',
    filters: {
      plan: filter<'tenants'>(Name, ({ plan }) => [plan]),
      status: filter<'tenants'>(TenantStatus, ({ status }) => [status]),
    },
    complete: (input, old) => keepDerived(input as Tenant, old as Tenant | undefined),
    owner: (row: Row<'tenants'>) => ({ tenant: row.id }),
  },
  {
    table: 'workspaces',
    path: 'workspaces',
    noun: 'workspace',
    audit: 'workspace',
    write: 'admin',
    view: Workspace,
    input: Workspace.partial({ slug: true, uuid: true }),
    idField: 'slug',
    filters: {
      tenant: filter<'workspaces'>(Name, ({ tenant }) => [tenant]),
      cell: filter<'workspaces'>(Name, ({ cellId }) => [cellId]),
      status: filter<'workspaces'>(TenantStatus, ({ status }) => [status]),
    },
    // A new workspace is given its UUID here; one that is there keeps its own.
    complete: (input, old) => ({
      ...input,
      uuid: input['uuid'] ?? (old as Workspace | undefined)?.uuid ?? randomUUID(),
    }),
    owner: (row: Row<'workspaces'>) => ({ tenant: row.tenant, workspace: row.slug }),
  },
  {
    table: 'plans',
    path: 'plans',
    noun: 'plan',
    audit: 'plan',
    write: 'admin',
    view: Plan,
    input: Plan.partial({ id: true }),
    idField: 'id',
    filters: {},
  },
  {
    table: 'models',
    path: 'models',
    noun: 'model',
    audit: 'model',
    write: 'admin',
    view: Model,
    input: Model.partial({ id: true }),
    idField: 'id',
    filters: {
      provider: filter<'models'>(Name, ({ offers }) => offers.map(({ provider }) => provider)),
      ability: filter<'models'>(z.string().max(40), ({ abilities }) => abilities),
    },
  },
  {
    table: 'cells',
    path: 'cells',
    noun: 'cell',
    audit: 'cell',
    write: 'admin',
    view: Cell,
    input: Cell.partial({ id: true }),
    idField: 'id',
    filters: {
      kind: filter<'cells'>(z.enum(['shared', 'dedicated']), ({ kind }) => [kind]),
      tenant: filter<'cells'>(Name, ({ tenant }) => [tenant]),
    },
  },
  {
    table: 'killSwitches',
    path: 'kill-switches',
    noun: 'kill switch',
    audit: 'kill_switch',
    write: 'operator',
    view: KillSwitch,
    input: KillSwitch.partial({ id: true }),
    idField: 'id',
    filters: { scope: filter<'killSwitches'>(z.string().max(40), ({ scope }) => [scope]) },
    // Thrown in an emergency, whole each time: there is nothing of another's in it that could be undone.
    lastWriterWins: true,
  },
];

export const PROVIDER_FILTERS: ConfigResource['filters'] = {
  dialect: filter<'providers'>(ProviderDialect, ({ dialect }) => [dialect]),
  region: filter<'providers'>(z.string().max(64), ({ region }) => [region]),
  enabled: filter<'providers'>(flag, ({ enabled }) => [enabled]),
};

export const KEY_FILTERS: ConfigResource['filters'] = {
  workspace: filter<'keys'>(Slug, ({ workspace }) => [workspace]),
};
