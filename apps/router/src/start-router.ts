import { portsFrom, SERVICE_TOKEN_ENV } from '@sluice/contracts';
import { createMetrics, listen, loadConfig, SERVICE_ENV, startAdminServer, type Logger } from '@sluice/service-kit';
import { z } from 'zod';
import { createRouterApp } from './create-router-app.ts';

const RouterEnv = z.object({ ...SERVICE_ENV, [SERVICE_TOKEN_ENV.callersToRouter]: z.string().min(16, 'must have at least 16 characters') });

/** Boots the router with its admin port. */
export async function startRouter({ env, logger }: { env: Record<string, string | undefined>; logger: Logger }): Promise<{ url: string; close(): Promise<void> }> {
  const config = loadConfig(RouterEnv, env);
  const ports = portsFrom(config.SLUICE_PORT_BASE);
  const metrics = createMetrics({ service: 'router', processMetrics: true });
  const app = createRouterApp({ logger, token: config[SERVICE_TOKEN_ENV.callersToRouter] });
  const server = await listen(app, { host: config.HOST, port: ports.router });
  const admin = await startAdminServer({
    host: config.HOST,
    port: ports.routerAdmin,
    metrics,
    ready: () => ({ ready: true, detail: { learning: false } }),
  }).catch(async (error: unknown) => {
    await server.close();
    throw error;
  });
  return {
    url: server.url,
    async close() {
      await Promise.all([server.close(), admin.close()]);
    },
  };
}
