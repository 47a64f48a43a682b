import { createServer } from 'node:http';
import { portsFrom, SERVICE_TOKEN_ENV, systemClock } from '@sluice/contracts';
import { createSnsPublisher, createSpineClients } from '@sluice/events';
import {
  createMetrics,
  listenOn,
  loadConfig,
  startAdminServer,
  type Listening,
  type Logger,
} from '@sluice/service-kit';
import { followConfig } from './config/config-follower.ts';
import { createRouter } from './create-router.ts';
import { RouterEnv } from './environment.ts';
import { startConsumers } from './signals/start-consumers.ts';
import { createMemoryRouterStore } from './store/memory-router-store.ts';
import { createRouterPool, migrateRouter } from './store/open-router-database.ts';
import { createPostgresRouterStore } from './store/postgres-router-store.ts';

const TICK_MS = 1_000;

/**
 * Boots the router with its admin port. It starts whether or not database, control plane and spine answer, and uses
 * each when it does.
 */
export async function startRouter({
  env,
  logger,
}: {
  env: Record<string, string | undefined>;
  logger: Logger;
}): Promise<{ url: string; close(): Promise<void> }> {
  const config = loadConfig(RouterEnv, env);
  const ports = portsFrom(config.SLUICE_PORT_BASE);
  const metrics = createMetrics({ service: 'router', processMetrics: true });
  const spine = createSpineClients({
    region: config.AWS_REGION,
    ...(config.AWS_ENDPOINT_URL === undefined ? {} : { endpoint: config.AWS_ENDPOINT_URL }),
    ...(config.AWS_ACCOUNT_ID === undefined ? {} : { account: config.AWS_ACCOUNT_ID }),
  });
  const pool = config.DATABASE_URL === undefined ? undefined : createRouterPool(config.DATABASE_URL, logger);
  if (pool === undefined) logger.warn('DATABASE_URL is not set: what the router learns ends with this process');
  const cpToken = config[SERVICE_TOKEN_ENV.routerToControlPlane];
  const follower =
    cpToken === undefined
      ? undefined
      : followConfig({
          url: config.SLUICE_CONTROL_PLANE_URL ?? `http://127.0.0.1:${ports.controlPlane}`,
          token: cpToken,
          logger,
        });
  if (follower === undefined)
    logger.warn(
      `${SERVICE_TOKEN_ENV.routerToControlPlane} is not set: the router knows no workspace and decides for none`,
    );
  const router = createRouter({
    store: pool === undefined ? createMemoryRouterStore() : createPostgresRouterStore(pool),
    prepareStore: () => (pool === undefined ? Promise.resolve() : migrateRouter(pool)),
    config: () => follower?.current,
    token: config[SERVICE_TOKEN_ENV.callersToRouter],
    clock: systemClock,
    logger,
    metrics,
    rewardTimeoutMs: config.SLUICE_REWARD_TIMEOUT_S * 1_000,
    defaultReward: config.SLUICE_DEFAULT_REWARD,
    driftReactions: config.SLUICE_DRIFT_REACTIONS === 'off' ? 'watching' : config.SLUICE_DRIFT_REACTIONS,
    tenantPerSecond: config.SLUICE_ROUTER_TENANT_RPS,
    retention: { days: config.SLUICE_ROUTER_KEEP_DAYS, rows: config.SLUICE_ROUTER_KEEP_ROWS },
    events: createSnsPublisher({ spine, logger }),
  });
  const consumers = startConsumers({ spine, usage: router.usage, refusals: router.refusals, logger, metrics });
  const opened: Listening[] = [];
  let ticking: Promise<void> | undefined;
  const timer = setInterval(() => {
    ticking ??= router.tick().finally(() => (ticking = undefined));
  }, TICK_MS);
  const close = async (): Promise<void> => {
    clearInterval(timer);
    await Promise.all(opened.map((server) => server.close()));
    await consumers.stop();
    await ticking;
    await follower?.close();
    await router.close();
    spine.close();
  };
  try {
    const server = await listenOn(createServer(router.listener), { host: config.HOST, port: ports.router });
    opened.push(server);
    const ready = () => ({
      ...router.ready,
      detail: {
        ...router.ready.detail,
        consumes: consumers.check.claims,
        spine_faults: consumers.check.faults ?? null,
      },
    });
    opened.push(await startAdminServer({ host: config.HOST, port: ports.routerAdmin, metrics, ready }));
    return { url: server.url, close };
  } catch (error) {
    await close();
    throw error;
  }
}
