import { z } from 'zod';
import { ProviderInput, type ConfigTable, type Provider } from '@sluice/contracts';
import { ProblemError, type SecretBox } from '@sluice/service-kit';
import type { ConfigStore } from '../config/config-store.ts';
import { maskRow, sealProvider } from '../config/provider-secrets.ts';
import { param } from './actor.ts';
import { editRow, findRow, listRows } from './config-edit.ts';
import { CONFIG_RESOURCES, PROVIDER_FILTERS, type ConfigResource } from './config-resources.ts';
import { etagOf } from './if-match.ts';
import { page, PAGE_FIELDS, pageOf } from './paging.ts';
import { route, type Route } from './route.ts';

/** What a write answers; `created` tells a new row from a changed one. */
export const Written = z.object({ id: z.string(), version: z.int(), created: z.boolean() });

export interface ConfigRouteDeps {
  readonly store: ConfigStore;
  /** Encrypts secrets that are entered; absent without a data key. */
  readonly secretBox?: SecretBox | undefined;
  /** E-mail addresses of the people who have a role in a workspace. @throws when the database does not answer. */
  readonly peopleOf: (slug: string) => Promise<readonly string[]>;
}

/** Tenants, workspaces, plans, models, cells, kill switches and providers: list, read, create or change, delete. */
export function configRoutes(deps: ConfigRouteDeps): Route[] {
  return [...CONFIG_RESOURCES, providerResource(deps)].flatMap((resource) => resourceRoutes(deps, resource));
}

function providerResource({ secretBox }: ConfigRouteDeps): ConfigResource {
  return {
    table: 'providers',
    path: 'providers',
    noun: 'provider',
    audit: 'provider',
    write: 'admin',
    view: ProviderInput,
    input: ProviderInput.partial({ id: true }),
    idField: 'id',
    filters: PROVIDER_FILTERS,
    show: maskRow,
    complete: (input, old) => {
      const sealed = sealProvider(input as ProviderInput, old as Provider | undefined, secretBox);
      if ('faults' in sealed)
        throw new ProblemError(400, 'The change is not possible', {
          type: 'invalid-configuration',
          errors: sealed.faults,
        });
      return sealed.provider;
    },
  };
}

function resourceRoutes({ store, peopleOf }: ConfigRouteDeps, resource: ConfigResource): Route[] {
  const { table, noun, view, input, idField, filters, write, lastWriterWins = false } = resource;
  const base = `/api/${resource.path}`;
  const tag = TAGS[table];
  const show = resource.show ?? ((row: unknown) => row);
  const Row = z.object({ id: z.string(), version: z.int(), value: view });
  const article = /^[aeiou]/.test(noun) ? 'an' : 'a';

  return [
    route({
      method: 'get',
      path: base,
      auth: 'viewer',
      tag,
      summary: `The ${noun}s, in the order of their ids`,
      query: z.strictObject({
        ...PAGE_FIELDS,
        q: z.string().max(100).optional(),
        ...Object.fromEntries(Object.entries(filters).map(([name, { schema }]) => [name, schema])),
      }),
      response: pageOf(Row),
      handler: ({ query }) => {
        const found = page(
          listRows(store, table).filter((row) => matches(row, query, filters)),
          query,
        );
        return { ...found, rows: found.rows.map((row) => ({ ...row, value: show(row.value) })) };
      },
    }),
    route({
      method: 'get',
      path: `${base}/:id`,
      auth: 'viewer',
      tag,
      summary: `One ${noun}; ETag is its version`,
      response: Row,
      handler: (call) => {
        const id = param(call, 'id');
        const value = findRow(store, table, id);
        if (value === undefined) throw new ProblemError(404, 'Not found');
        const version = store.rowVersion(table, id) ?? 0;
        call.res.set('etag', etagOf(version));
        return { id, version, value: show(value) };
      },
    }),
    route({
      method: 'put',
      path: `${base}/:id`,
      auth: write,
      tag,
      summary: `Create ${article} ${noun}, or change one as a whole`,
      precondition: lastWriterWins ? 'optional' : 'required',
      body: input,
      response: Written,
      handler: async (call) => {
        const id = param(call, 'id');
        const old = findRow(store, table, id);
        const given = { [idField]: id, ...(call.body as Record<string, unknown>) };
        const value = resource.complete === undefined ? given : resource.complete(given, old);
        const verb = lastWriterWins ? 'set' : old === undefined ? 'created' : 'changed';
        const version = await editRow(store, call, {
          table,
          id,
          value,
          type: `${resource.audit}.${verb}`,
          show,
          lastWriterWins,
          ...resource.owner?.(value as never),
        });
        return { id, version, created: old === undefined };
      },
    }),
    route({
      method: 'delete',
      path: `${base}/:id`,
      auth: write,
      tag,
      summary: `Delete ${article} ${noun}; refused while something uses it`,
      precondition: lastWriterWins ? 'optional' : 'required',
      status: 204,
      handler: async (call) => {
        const id = param(call, 'id');
        const old = findRow(store, table, id);
        if (old === undefined) throw new ProblemError(404, 'Not found');
        if (table === 'workspaces') await requireNoPeople(peopleOf, id);
        await editRow(store, call, {
          table,
          id,
          type: `${resource.audit}.${lastWriterWins ? 'cleared' : 'deleted'}`,
          show,
          lastWriterWins,
          ...resource.owner?.(old as never),
        });
      },
    }),
  ];
}

const TAGS: Readonly<Record<ConfigTable, string>> = {
  tenants: 'Tenants',
  workspaces: 'Workspaces',
  keys: 'Keys',
  plans: 'Plans',
  providers: 'Providers',
  models: 'Models',
  cells: 'Cells',
  killSwitches: 'Kill switches',
};

/** Roles outlive a workspace otherwise, and would hold again in the next one of its name. */
async function requireNoPeople(peopleOf: ConfigRouteDeps['peopleOf'], slug: string): Promise<void> {
  const people = await peopleOf(slug);
  if (people.length === 0) return;
  throw new ProblemError(409, 'It is in use', {
    type: 'in-use',
    detail: `${people.slice(0, 10).join(', ')}${people.length > 10 ? ` and ${people.length - 10} more` : ''} have a role in it. Take those roles away first.`,
    errors: people
      .slice(0, 100)
      .map((email) => ({ path: `users.${email}.roles.${slug}`, message: 'is a role in this workspace' })),
  });
}

function matches(
  row: { readonly id: string; readonly value: unknown },
  query: Readonly<Record<string, unknown>>,
  filters: ConfigResource['filters'],
): boolean {
  const { q } = query;
  if (typeof q === 'string' && !searchText(row).includes(q.toLowerCase())) return false;
  return Object.entries(filters).every(
    ([name, { of }]) => query[name] === undefined || of(row.value as never).includes(query[name]),
  );
}

function searchText({ id, value }: { readonly id: string; readonly value: unknown }): string {
  const { name, displayName } = value as { name?: unknown; displayName?: unknown };
  return [id, name, displayName]
    .filter((text) => typeof text === 'string')
    .join('\n')
    .toLowerCase();
}
