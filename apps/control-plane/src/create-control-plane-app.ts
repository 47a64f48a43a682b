import type { Express } from 'express';
import { createApp, finishApp, type Logger } from '@sluice/service-kit';
import type { Authenticate } from './api/authenticate.ts';
import { mountRoutes, type OnAnswer } from './api/mount-routes.ts';
import type { Route } from './api/route.ts';
import { serveConsole } from './console/serve-console.ts';
import type { TenantGate } from './tenant/tenant-gate.ts';
import { hostGuard } from './http/host-guard.ts';

export interface ControlPlaneAppDeps {
  readonly logger: Logger;
  readonly routes: readonly Route[];
  readonly authenticate: Authenticate;
  readonly onAnswer?: OnAnswer | undefined;
  /** Shares the database among tenants. */
  readonly gate?: TenantGate | undefined;
  /** Built files of the operator console; may be absent. */
  readonly consoleDir: string;
  /** Hosts (`name:port`) besides the loopback names. */
  readonly extraHosts?: readonly string[];
  readonly trustedProxies?: readonly string[] | undefined;
}

/** The control plane's HTTP application; it does not listen. */
export function createControlPlaneApp(deps: ControlPlaneAppDeps): Express {
  const app = createApp({ logger: deps.logger, jsonLimit: false, trustedProxies: deps.trustedProxies });
  app.use(hostGuard(deps.extraHosts));
  app.get('/', (_req, res) => res.redirect('/_console/'));
  app.use('/_console', serveConsole({ dir: deps.consoleDir }));
  mountRoutes(app, deps.routes, deps.authenticate, { onAnswer: deps.onAnswer, gate: deps.gate });
  finishApp(app, { logger: deps.logger });
  return app;
}
