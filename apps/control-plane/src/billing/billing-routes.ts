import { z } from 'zod';
import { BillingRequest, BillingView, StatementView, type Clock, type Tenant } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import { editRow } from '../api/config-edit.ts';
import { etagOf, readPrecondition } from '../api/if-match.ts';
import { route, type Route } from '../api/route.ts';
import type { ConfigStore } from '../config/config-store.ts';
import { admit } from '../tenant/admit.ts';
import type { Billing } from './billing.ts';
import type { CapKeeper } from './cap-keeper.ts';

const PATH = '/internal/workspaces/:slug/billing';
const Month = z.strictObject({
  month: z.string().regex(/^(19[7-9]\d|20\d\d|21\d\d)-(0[1-9]|1[0-2])$/, 'must be a month such as 2026-03'),
});

/** A tenant's billing, for people with a role that may see it in one of its workspaces. */
export function billingRoutes({
  store,
  billing,
  keeper,
  clock,
}: {
  store: ConfigStore;
  billing: Billing;
  keeper: CapKeeper;
  clock: Pick<Clock, 'now'>;
}): Route[] {
  const tenantNow = (id: string): Tenant => {
    const tenant = store.snapshot().tenants[id];
    if (tenant === undefined) throw new ProblemError(404, 'Not found');
    return tenant;
  };
  const view = async (id: string): Promise<BillingView> => ({
    version: store.rowVersion('tenants', id) ?? 1,
    ...(await billing.current(tenantNow(id), clock.now())),
  });
  return [
    route({
      method: 'get',
      path: PATH,
      auth: 'person',
      tag: 'Billing',
      summary: 'This month, the overage cap and a forecast',
      response: BillingView,
      handler: async (call) => {
        const found = await view(admit(store, call, 'billing:read').tenant.id);
        call.res.set('etag', etagOf(found.version));
        return found;
      },
    }),
    route({
      method: 'get',
      path: `${PATH}/statement`,
      auth: 'person',
      tag: 'Billing',
      summary: 'The statement of a month',
      query: Month,
      response: StatementView,
      handler: async (call) => {
        const statement = await billing.statement(
          admit(store, call, 'billing:read').tenant,
          call.query.month,
          clock.now(),
        );
        if (statement === undefined) throw new ProblemError(404, 'Not found');
        return statement;
      },
    }),
    route({
      method: 'put',
      path: PATH,
      auth: 'person',
      tag: 'Billing',
      summary: 'Set the hard cap of overage; null goes back to the plan’s. If-Match is needed',
      body: BillingRequest,
      response: BillingView,
      handler: async (call) => {
        const { tenant, workspace } = admit(store, call, 'billing:write');
        if (readPrecondition(call.req).kind === 'none')
          throw new ProblemError(428, 'If-Match is missing', {
            detail: 'Send the ETag of the version that you have seen.',
          });
        if (store.snapshot().plans[tenant.plan]?.allotment.overage === undefined) {
          throw new ProblemError(400, 'The change is not possible', {
            errors: [
              { path: 'overage_cap_nanousd', message: 'this plan sells no overage, so there is nothing to cap' },
            ],
          });
        }
        const { overageCapNanoUsd: _old, ...rest } = tenant;
        const cap = call.body.overage_cap_nanousd;
        const value = await keeper.withWindow(cap === null ? rest : { ...rest, overageCapNanoUsd: cap }, clock.now());
        await editRow(store, call, {
          table: 'tenants',
          id: tenant.id,
          value,
          type: 'billing.cap_changed',
          tenant: tenant.id,
          workspace: workspace.slug,
          show: capOf,
        });
        return view(tenant.id);
      },
    }),
  ];
}

const capOf = (row: unknown): unknown => ({ overageCapNanoUsd: (row as Tenant).overageCapNanoUsd ?? null });
