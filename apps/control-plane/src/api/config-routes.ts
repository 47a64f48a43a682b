import { z } from 'zod';
import { Model, Plan, Provider, Tenant, Workspace, type ConfigTable } from '@sluice/contracts';
import type { ConfigStore } from '../config/config-store.ts';
import { param } from './actor.ts';
import { editRow, listRows, requireNewPriceVersion } from './config-edit.ts';
import { route, type Route } from './route.ts';

/** Tenants, workspaces, plans, providers and models. */
export function configRoutes({ store }: { store: ConfigStore }): Route[] {
  return [
    list(store, 'tenants', Tenant),
    list(store, 'workspaces', Workspace),
    list(store, 'plans', Plan),
    list(store, 'providers', Provider),
    list(store, 'models', Model),
    list(store, 'cells', z.unknown()),
    route({
      method: 'put',
      path: '/api/tenants/:id',
      auth: 'admin',
      tag: 'Configuration',
      summary: 'Create or replace a tenant',
      body: Tenant,
      response: Written,
      handler: async (call) => {
        const id = param(call, 'id');
        return { id, version: await editRow(store, call, { table: 'tenants', id, value: call.body, type: 'tenant.changed', tenant: id }) };
      },
    }),
    route({
      method: 'put',
      path: '/api/plans/:id',
      auth: 'admin',
      tag: 'Configuration',
      summary: 'Create or replace a plan; changed prices need a higher version of the price book',
      body: Plan,
      response: Written,
      handler: async (call) => {
        const id = param(call, 'id');
        requireNewPriceVersion(store.snapshot().plans[id], call.body);
        return { id, version: await editRow(store, call, { table: 'plans', id, value: call.body, type: 'plan.changed' }) };
      },
    }),
    route({
      method: 'put',
      path: '/api/providers/:id',
      auth: 'admin',
      tag: 'Configuration',
      summary: 'Create or replace a provider; secrets by reference',
      body: Provider,
      response: Written,
      handler: async (call) => {
        const id = param(call, 'id');
        return { id, version: await editRow(store, call, { table: 'providers', id, value: call.body, type: 'provider.changed', show: withoutCiphertext }) };
      },
    }),
    route({
      method: 'put',
      path: '/api/models/:id',
      auth: 'admin',
      tag: 'Configuration',
      summary: 'Create or replace a model',
      body: Model,
      response: Written,
      handler: async (call) => {
        const id = param(call, 'id');
        return { id, version: await editRow(store, call, { table: 'models', id, value: call.body, type: 'model.changed' }) };
      },
    }),
  ];
}

const Written = z.object({ id: z.string(), version: z.int() });

function list(store: ConfigStore, table: ConfigTable, schema: z.ZodType): Route {
  return route({
    method: 'get',
    path: `/api/${table}`,
    auth: 'viewer',
    tag: 'Configuration',
    summary: `All ${table} with their versions`,
    response: z.object({ rows: z.array(z.object({ id: z.string(), version: z.int(), value: schema })) }),
    handler: () => ({ rows: table === 'providers' ? listRows(store, 'providers').map((row) => ({ ...row, value: withoutCiphertext(row.value) })) : listRows(store, table) }),
  });
}

/** Encrypted secrets are shown as being there, not as what they are. */
function withoutCiphertext(row: unknown): unknown {
  const parsed = Provider.safeParse(row);
  if (!parsed.success) return undefined;
  return {
    ...parsed.data,
    credentials: parsed.data.credentials.map((credential) =>
      credential.secret?.kind === 'encrypted' ? { ...credential, secret: { kind: 'encrypted' as const } } : credential,
    ),
  };
}
