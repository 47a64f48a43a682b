import type { Express, Request } from 'express';
import { parseBody, parseQuery } from '@sluice/service-kit';
import type { Authenticate } from './authenticate.ts';
import type { Route } from './route.ts';

/** Makes Express routes of the table: authenticate, parse, handle, answer. The only place where routes are mounted. */
export function mountRoutes(app: Express, routes: readonly Route[], authenticate: Authenticate): void {
  for (const route of routes) {
    app[route.method](route.path, async (req, res) => {
      const caller = await authenticate(route.auth, req);
      const result = await route.handler({
        req,
        res,
        params: pathParams(req),
        body: route.body === undefined ? undefined : parseBody(route.body, req),
        query: route.query === undefined ? undefined : parseQuery(route.query, req),
        operator: caller.operator,
        principal: caller.principal,
      });
      if (route.streams === true) return;
      if (route.status === 204) res.status(204).end();
      else res.status(route.status ?? 200).json(result);
    });
  }
}

function pathParams(req: Request): Record<string, string> {
  return Object.fromEntries(Object.entries(req.params).map(([name, value]) => [name, String(value)]));
}
