import type { Express } from 'express';
import { createApp, finishApp, ProblemError, requireServiceToken, serveOpenApi, type ApiRoute, type Logger } from '@sluice/service-kit';

/** The routes of the service, as `/openapi.json` shows them. */
export const ROUTER_ROUTES: readonly ApiRoute[] = [
  { method: 'get', path: '/health', summary: 'Whether the process lives, and that it learns nothing yet', auth: 'none' },
  { method: 'post', path: '/route', summary: 'Chooses a model for a request. Not built: always 501', auth: 'service', status: 501 },
  { method: 'post', path: '/feedback', summary: 'Takes quality and outcome of a decision. Not built: always 501', auth: 'service', status: 501 },
];

export interface RouterDeps {
  logger: Logger;
  /** Token of the services that may ask. */
  token: string;
}

/** The router's HTTP face. It decides nothing yet and says so. */
export function createRouterApp({ logger, token }: RouterDeps): Express {
  const app = createApp({ logger });
  app.get('/health', (_req, res) => void res.json({ status: 'ok', learning: false }));
  serveOpenApi(app, { title: 'Sluice router', description: 'A stub: the learned router is not built yet.', routes: ROUTER_ROUTES });
  app.post(['/route', '/feedback'], requireServiceToken({ caller: token }), () => {
    throw new ProblemError(501, 'The learned router is not built yet; the gateway uses its static plan');
  });
  finishApp(app, { logger });
  return app;
}
