import type { Express } from 'express';
import { createApp, finishApp, ProblemError, requireServiceToken, serveOpenApi, type ApiRoute, type Logger } from '@sluice/service-kit';
import type { TenantSignalStore } from './signals/tenant-signals.ts';

/** The routes of the service, as `/openapi.json` shows them. */
export const ROUTER_ROUTES: readonly ApiRoute[] = [
  { method: 'get', path: '/health', summary: 'Whether the process lives, and that it learns nothing yet', auth: 'none' },
  { method: 'get', path: '/tenants/{id}/profile', summary: 'Difficulty and pressure of a tenant, from the events that this process has read', auth: 'service' },
  { method: 'post', path: '/route', summary: 'Chooses a model for a request. Not built: always 501', auth: 'service', status: 501 },
  { method: 'post', path: '/feedback', summary: 'Takes quality and outcome of a decision. Not built: always 501', auth: 'service', status: 501 },
];

export interface RouterDeps {
  logger: Logger;
  /** Token of the services that may ask. */
  token: string;
  signals: Pick<TenantSignalStore, 'of'>;
}

/** The router's HTTP face. It decides nothing yet and says so. */
export function createRouterApp({ logger, token, signals }: RouterDeps): Express {
  const app = createApp({ logger });
  const onlyServices = requireServiceToken({ caller: token });
  app.get('/health', (_req, res) => void res.json({ status: 'ok', learning: false }));
  serveOpenApi(app, { title: 'Sluice router', description: 'A stub that keeps signals per tenant: the learned router is not built yet.', routes: ROUTER_ROUTES });
  app.get('/tenants/:id/profile', onlyServices, (req, res) => {
    const found = signals.of(String(req.params['id']));
    if (found === undefined) throw new ProblemError(404, 'Nothing was heard of this tenant');
    res.json(found);
  });
  app.post(['/route', '/feedback'], onlyServices, () => {
    throw new ProblemError(501, 'The learned router is not built yet; the gateway uses its static plan');
  });
  finishApp(app, { logger });
  return app;
}
