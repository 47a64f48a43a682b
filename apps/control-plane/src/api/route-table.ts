import { z } from 'zod';
import type { Clock } from '@sluice/contracts';
import { API_PAGE_CSP, apiPage } from '@sluice/service-kit';
import type { ConfigStore } from '../config/config-store.ts';
import type { People } from '../session/people.ts';
import type { PersonSessions } from '../session/person-sessions.ts';
import type { GatewayReports } from '../state/gateway-reports.ts';
import { chaosRoutes, type ChaosRouteDeps } from './chaos-routes.ts';
import { configRoutes, type ConfigRouteDeps } from './config-routes.ts';
import { credentialRoutes } from './credential-routes.ts';
import { gatewayRoutes } from './gateway-routes.ts';
import { operatorAccountRoutes, type OperatorAccountRouteDeps } from './operator-account-routes.ts';
import { userRoutes, type UserRouteDeps } from './user-routes.ts';
import { priceRoutes } from './price-routes.ts';
import type { AuditExports } from '../exports/audit-exports.ts';
import { exportRoutes } from '../exports/export-routes.ts';
import { internalRoutes } from './internal-routes.ts';
import { workspaceKeyRoutes } from './key-routes.ts';
import { ledgerRoutes } from './ledger-routes.ts';
import { dlqRoutes } from './dlq-routes.ts';
import { describeRoutes } from './openapi.ts';
import { operatorRoutes } from './operator-routes.ts';
import { peopleRoutes } from './people-routes.ts';
import { platformRoutes } from './platform-routes.ts';
import { policyRoutes } from './policy-routes.ts';
import type { AuditLog, AuditTrail, LedgerKeeper, LedgerReader, QueueAdmin } from './ports.ts';
import { route, type Route } from './route.ts';
import type { RouterClient } from '../router/router-client.ts';
import { putAsideRoutes, type PutAsideRouteDeps } from './put-aside-routes.ts';
import { routerRoutes } from './router-routes.ts';
import { sessionRoutes, type SessionRouteDeps } from './session-routes.ts';
import { stateRoutes } from './state-routes.ts';
import type { TenantConsole } from '../tenant/create-tenant-console.ts';

export interface RouteTableDeps
  extends SessionRouteDeps, ConfigRouteDeps, UserRouteDeps, OperatorAccountRouteDeps, PutAsideRouteDeps {
  readonly store: ConfigStore;
  readonly clock: Clock;
  readonly reports: GatewayReports;
  readonly ledger: LedgerReader;
  readonly ledgerKeeper: LedgerKeeper;
  readonly audit: AuditTrail;
  readonly auditLog: AuditLog;
  readonly queues: QueueAdmin;
  readonly exports: AuditExports;
  readonly state: Parameters<typeof stateRoutes>[0];
  readonly people: People;
  readonly personSessions: PersonSessions;
  readonly router: RouterClient;
  readonly tenant: Pick<TenantConsole, 'routes'>;
  readonly internal: Parameters<typeof internalRoutes>[0];
  /** Absent where chaos is not enabled: its routes then do not exist. */
  readonly chaos?: Omit<ChaosRouteDeps, 'audit' | 'onAuditError' | 'config'>;
}

/** Every route of the control plane. Express, the description and the matrix test are all made from it. */
export function createRouteTable(deps: RouteTableDeps): Route[] {
  const { store, clock } = deps;
  const routes: Route[] = [
    ...sessionRoutes(deps),
    ...stateRoutes(deps.state),
    ...ledgerRoutes(deps),
    ...configRoutes(deps),
    ...policyRoutes({
      store,
      prefix: '/api/workspaces',
      auth: { read: 'viewer', write: 'admin' },
      admit: () => undefined,
    }),
    ...workspaceKeyRoutes({
      store,
      clock,
      prefix: '/api/workspaces',
      auth: { read: 'viewer', write: 'operator' },
      admit: () => undefined,
    }),
    ...operatorRoutes(deps),
    ...credentialRoutes(deps),
    ...platformRoutes(deps),
    ...userRoutes(deps),
    ...operatorAccountRoutes(deps),
    ...priceRoutes(deps),
    ...gatewayRoutes({ store, reports: deps.reports, stream: deps.internal.stream }),
    ...dlqRoutes(deps),
    ...putAsideRoutes(deps),
    ...exportRoutes(deps),
    ...(deps.chaos === undefined
      ? []
      : chaosRoutes({
          ...deps.chaos,
          audit: deps.audit,
          onAuditError: deps.onAuditError,
          config: () => store.snapshot(),
        })),
    ...routerRoutes(deps),
    ...internalRoutes(deps.internal),
    ...peopleRoutes(deps),
    ...deps.tenant.routes,
  ];
  let description: ReturnType<typeof describeRoutes> | undefined;
  let page: string | undefined;
  routes.push(
    route({
      method: 'get',
      path: '/openapi.json',
      auth: 'none',
      tag: 'Description',
      summary: 'This description',
      response: z.unknown(),
      handler: () => (description ??= describeRoutes(routes)),
    }),
    route({
      method: 'get',
      path: '/docs',
      auth: 'none',
      tag: 'Description',
      summary: 'The same as a page',
      streams: true,
      handler: ({ res }) => {
        res
          .set('content-security-policy', API_PAGE_CSP)
          .type('html')
          .send((page ??= apiPage((description ??= describeRoutes(routes)))));
      },
    }),
  );
  return routes;
}
