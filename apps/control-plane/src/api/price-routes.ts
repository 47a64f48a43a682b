import { z } from 'zod';
import { Name, Price, PriceBook, type Clock } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { ConfigStore } from '../config/config-store.ts';
import { param } from './actor.ts';
import { editRow, findRow } from './config-edit.ts';
import { etagOf } from './if-match.ts';
import { route, type Route } from './route.ts';

const PriceBookView = z.object({ plan: Name, version: z.int(), priceBook: PriceBook });
const NewPrices = z.strictObject({
  prices: z.record(Name, Price),
  effectiveFrom: PriceBook.shape.effectiveFrom.optional(),
});

/** What customers of a plan are billed. A change is a new version of the price book; the old one stays what it was. */
export function priceRoutes({ store, clock }: { store: ConfigStore; clock: Pick<Clock, 'now'> }): Route[] {
  const planOf = (id: string) => {
    const plan = findRow(store, 'plans', id);
    if (plan === undefined) throw new ProblemError(404, 'Not found');
    return plan;
  };
  return [
    route({
      method: 'get',
      path: '/api/plans/:id/prices',
      auth: 'viewer',
      tag: 'Prices',
      summary: "A plan's price book: picodollars per token by model; ETag is the plan's version",
      response: PriceBookView,
      handler: (call) => {
        const { id, priceBook } = planOf(param(call, 'id'));
        const version = store.rowVersion('plans', id) ?? 0;
        call.res.set('etag', etagOf(version));
        return { plan: id, version, priceBook };
      },
    }),
    route({
      method: 'put',
      path: '/api/plans/:id/prices',
      auth: 'admin',
      tag: 'Prices',
      summary: 'Replace the prices of a plan by a new version of its price book',
      precondition: 'required',
      body: NewPrices,
      response: PriceBookView,
      handler: async (call) => {
        const plan = planOf(param(call, 'id'));
        const { prices, effectiveFrom = new Date(clock.now()).toISOString() } = call.body;
        const priceBook = { version: plan.priceBook.version + 1, effectiveFrom, prices };
        const version = await editRow(store, call, {
          table: 'plans',
          id: plan.id,
          value: { ...plan, priceBook },
          type: 'plan.prices_changed',
          show: (row) => (row as typeof plan).priceBook,
        });
        return { plan: plan.id, version, priceBook };
      },
    }),
  ];
}
