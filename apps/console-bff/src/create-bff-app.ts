import type { Express } from 'express';
import { z } from 'zod';
import { Slug, type Clock } from '@sluice/contracts';
import { createApp, finishApp, serveOpenApi, type ApiRoute, type Logger, type Metrics } from '@sluice/service-kit';
import type { ControlPlane } from './control-plane.ts';
import { originCheck } from './origin-check.ts';
import type { PlaygroundPool } from './playground/pool.ts';
import { playgroundRoute } from './playground/playground-route.ts';
import { createSessionOf, type PrincipalOf } from './principal-of.ts';
import type { ReadShares } from './read-shares.ts';
import { SCOPED_ROUTES } from './route-table.ts';
import type { ScopedRoute } from './routes/scoped-route.ts';
import { scopedHandler } from './scope.ts';
import { addSessionRoutes, SESSION_ROUTES } from './session-routes.ts';
import type { Sessions } from './sessions.ts';

export interface BffDeps {
  logger: Logger;
  metrics: Pick<Metrics, 'counter'>;
  controlPlane: ControlPlane;
  sessions: Sessions;
  clock: Pick<Clock, 'now'>;
  shares: ReadShares;
  /** Where the playground calls, and the key that signs who acts there. */
  gatewayUrl: string;
  principalKey: string;
  pool: PlaygroundPool;
  allowedOrigins: readonly string[];
  /** `Host` headers to answer; all when absent. */
  allowedHosts?: readonly string[];
  /** Proxies whose `x-forwarded-for` is believed; none when absent. */
  trustedProxies?: readonly string[] | undefined;
}

/** The console's backend as an Express application. */
export function createBffApp({
  logger,
  metrics,
  controlPlane,
  sessions,
  clock,
  shares,
  gatewayUrl,
  principalKey,
  pool,
  allowedOrigins,
  allowedHosts,
  trustedProxies,
}: BffDeps): Express {
  const routes = scopedRoutes({ gatewayUrl, principalKey, pool, clock });
  // The playground takes prompts; everything else is small.
  const app = createApp({
    logger,
    jsonLimit: '2mb',
    trustedProxies,
    ...(allowedHosts === undefined ? {} : { allowedHosts }),
  });
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
    description: 'What a customer may see and change of the workspaces in which they have a role.',
    routes: [...SESSION_ROUTES, ...routes.map(describe)],
  });
  const sessionOf = createSessionOf(sessions);
  const principalOf: PrincipalOf = async (req) => (await sessionOf(req)).principal;
  addSessionRoutes(app, {
    sessions,
    controlPlane,
    sessionOf: async (req) => {
      const session = await sessionOf(req);
      shares.charge(session.principal.userId);
      return session;
    },
  });
  for (const route of routes)
    app[route.method](route.path, scopedHandler(route, { controlPlane, principalOf, clock, shares }));
  finishApp(app, { logger });
  return app;
}

/** Every route of a workspace. */
export function scopedRoutes(playground: Parameters<typeof playgroundRoute>[0]): readonly ScopedRoute[] {
  return [...SCOPED_ROUTES, playgroundRoute(playground)];
}

function describe(route: ScopedRoute): ApiRoute {
  return {
    method: route.method,
    path: route.path,
    summary: route.summary,
    auth: 'session',
    who: `People with the permission ${route.permission} in the workspace.`,
    query: z.object({ workspace: Slug }),
    ...(route.status === undefined ? {} : { status: route.status }),
    ...(route.body === undefined ? {} : { body: route.body }),
    ...(route.view === undefined ? {} : { response: route.view }),
  };
}
