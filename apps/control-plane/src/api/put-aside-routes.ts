import { z } from 'zod';
import { PutAsideRecord } from '@sluice/contracts';
import { route, type Route } from './route.ts';

export interface PutAsideRouteDeps {
  /** Newest first. */
  readonly putAside: (limit: number) => Promise<PutAsideRecord[]>;
}

/** Records that the ledger or the spine never takes. */
export function putAsideRoutes({ putAside }: PutAsideRouteDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/api/put-aside',
      auth: 'operator',
      tag: 'Queues',
      summary: 'Records that the ledger or the spine never takes, and why, newest first',
      query: z.strictObject({ limit: z.coerce.number().int().min(1).max(100).default(20) }),
      response: z.array(PutAsideRecord),
      handler: ({ query }) => putAside(query.limit),
    }),
  ];
}
