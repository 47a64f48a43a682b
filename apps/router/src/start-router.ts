import { portsFrom, SERVICE_TOKEN_ENV, systemClock } from '@sluice/contracts';
import { createSpineClients } from '@sluice/events';
import { createMetrics, listen, loadConfig, SERVICE_ENV, startAdminServer, type Listening, type Logger } from '@sluice/service-kit';
import { z } from 'zod';
import { createRouterApp } from './create-router-app.ts';
import { startSignals } from './signals/start-signals.ts';

const RouterEnv = z.object({
  ...SERVICE_ENV,
  [SERVICE_TOKEN_ENV.callersToRouter]: z.string().min(16, 'must have at least 16 characters'),
  AWS_ENDPOINT_URL: z.url().optional(),
  AWS_REGION: z.string().default('eu-central-1'),
  AWS_ACCOUNT_ID: z.string().regex(/^\d{12}$/, 'must be 12 digits').optional(),
});

/** Boots the router with its admin port. It starts whether or not the spine answers, and reads its queues when that does. */
export async function startRouter({ env, logger }: { env: Record<string, string | undefined>; logger: Logger }): Promise<{ url: string; close(): Promise<void> }> {
  const config = loadConfig(RouterEnv, env);
  const ports = portsFrom(config.SLUICE_PORT_BASE);
  const metrics = createMetrics({ service: 'router', processMetrics: true });
  const spine = createSpineClients({
    region: config.AWS_REGION,
    ...(config.AWS_ENDPOINT_URL === undefined ? {} : { endpoint: config.AWS_ENDPOINT_URL }),
    ...(config.AWS_ACCOUNT_ID === undefined ? {} : { account: config.AWS_ACCOUNT_ID }),
  });
  const running = startSignals({ spine, clock: systemClock, logger, metrics });
  const opened: Listening[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(opened.map((server) => server.close()));
    await running.stop();
    spine.close();
  };
  try {
    const app = createRouterApp({ logger, token: config[SERVICE_TOKEN_ENV.callersToRouter], signals: running.signals });
    const server = await listen(app, { host: config.HOST, port: ports.router });
    opened.push(server);
    const ready = () => ({ ready: true, detail: { learning: false, consumes: running.check.claims, spine_faults: running.check.faults ?? null } });
    opened.push(await startAdminServer({ host: config.HOST, port: ports.routerAdmin, metrics, ready }));
    return { url: server.url, close };
  } catch (error) {
    await close();
    throw error;
  }
}
