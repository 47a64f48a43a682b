import type { Express } from 'express';
import { z } from 'zod';
import { Slug, type Clock } from '@sluice/contracts';
import { createApp, finishApp, serveOpenApi, type ApiRoute, type Logger, type Metrics } from '@sluice/service-kit';
import type { ControlPlane } from './control-plane.ts';
import { originCheck } from './origin-check.ts';
import { SCOPED_ROUTES, type ScopedRoute } from './route-table.ts';
import { scopedHandler } from './scope.ts';
import { addSessionRoutes, createPrincipalOf, SESSION_ROUTES } from './session-routes.ts';
import type { Sessions } from './sessions.ts';

export interface BffDeps {
  logger: Logger;
  metrics: Pick<Metrics, 'counter'>;
  controlPlane: ControlPlane;
  sessions: Sessions;
  clock: Pick<Clock, 'now'>;
  allowedOrigins: readonly string[];
  /** `Host` headers to answer; all when absent. */
  allowedHosts?: readonly string[];
}

/** The console's backend as an Express application. */
export function createBffApp({ logger, metrics, controlPlane, sessions, clock, allowedOrigins, allowedHosts }: BffDeps): Express {
  const app = createApp({ logger, ...(allowedHosts === undefined ? {} : { allowedHosts }) });
  const answers = metrics.counter('sluice_bff_answers_total', 'Answers of the console backend', ['route', 'status']);

  app.use(function count(req, res, next) {
    // Express names the route only once it matched; whatever did not match is one value.
    res.on('finish', () => {
      const route = req.route as { path?: unknown } | undefined;
      answers.inc({ route: typeof route?.path === 'string' ? route.path : 'none', status: String(res.statusCode) });
    });
    next();
  });
  app.use(originCheck(allowedOrigins));
  app.get('/health', (_req, res) => void res.json({ status: 'ok' }));
  serveOpenApi(app, {
    title: 'Sluice tenant console',
    description: 'What a customer may see of the workspaces in which he has a role. Routes without an answer schema are not built and answer 501.',
    routes: [...SESSION_ROUTES, ...SCOPED_ROUTES.map(describe)],
  });
  addSessionRoutes(app, { sessions, controlPlane });
  const principalOf = createPrincipalOf(sessions);
  for (const route of SCOPED_ROUTES) app[route.method](route.path, scopedHandler(route, { controlPlane, principalOf, clock }));
  finishApp(app, { logger });
  return app;
}

function describe(route: ScopedRoute): ApiRoute {
  return {
    method: route.method,
    path: route.path,
    summary: `${route.summary} (${route.permission})${route.built === undefined ? '. Not built: 501' : ''}`,
    auth: 'session',
    query: z.object({ workspace: Slug }),
    ...(route.built === undefined
      ? { status: 501 }
      : {
          ...(route.built.status === undefined ? {} : { status: route.built.status }),
          ...(route.built.body === undefined ? {} : { body: route.built.body }),
          ...(route.built.view === undefined ? {} : { response: route.built.view }),
        }),
  };
}
