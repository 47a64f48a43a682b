import { portsFrom, PRINCIPAL_SIGNING_KEY_ENV, SERVICE_TOKEN_ENV, systemClock } from '@sluice/contracts';
import {
  createMetrics,
  listen,
  loadConfig,
  SERVICE_ENV,
  startAdminServer,
  TrustedProxies,
  type Logger,
} from '@sluice/service-kit';
import { z } from 'zod';
import { createControlPlane } from './control-plane.ts';
import { createBffApp } from './create-bff-app.ts';
import { loopbackOrigins } from './origin-check.ts';
import { createPlaygroundPool } from './playground/pool.ts';
import { createReadShares } from './read-shares.ts';
import { createSessions } from './sessions.ts';

const secret = z.string().min(16, 'must have at least 16 characters');
const list = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  );

const BffEnv = z.object({
  ...SERVICE_ENV,
  SLUICE_CONTROL_PLANE_URL: z.url({ protocol: /^https?$/ }).optional(),
  [SERVICE_TOKEN_ENV.bffToControlPlane]: secret,
  [PRINCIPAL_SIGNING_KEY_ENV]: secret,
  SLUICE_GATEWAY_URL: z.url({ protocol: /^https?$/ }).optional(),
  SLUICE_CONSOLE_ORIGINS: list,
  SLUICE_TRUSTED_PROXIES: TrustedProxies,
});

/** Boots the console's backend with its admin port. */
export async function startBff({
  env,
  logger,
}: {
  env: Record<string, string | undefined>;
  logger: Logger;
}): Promise<{ url: string; close(): Promise<void> }> {
  const config = loadConfig(BffEnv, env);
  const ports = portsFrom(config.SLUICE_PORT_BASE);
  const metrics = createMetrics({ service: 'console-bff', processMetrics: true });
  const origins = [...loopbackOrigins([ports.console, ports.consoleBff]), ...config.SLUICE_CONSOLE_ORIGINS];
  const pool = createPlaygroundPool();
  const controlPlane = createControlPlane({
    baseUrl: (config.SLUICE_CONTROL_PLANE_URL ?? `http://127.0.0.1:${ports.controlPlane}`).replace(/\/+$/, ''),
    token: config[SERVICE_TOKEN_ENV.bffToControlPlane],
    principalKey: config[PRINCIPAL_SIGNING_KEY_ENV],
    clock: systemClock,
    onFault: (fault) => logger.warn({ err: fault }, 'the control plane gave no usable answer'),
  });
  const app = createBffApp({
    logger,
    metrics,
    controlPlane,
    sessions: createSessions({ clock: systemClock, controlPlane }),
    shares: createReadShares({ clock: systemClock }),
    gatewayUrl: config.SLUICE_GATEWAY_URL ?? `http://127.0.0.1:${ports.gateway}`,
    principalKey: config[PRINCIPAL_SIGNING_KEY_ENV],
    pool,
    clock: systemClock,
    allowedOrigins: origins,
    trustedProxies: config.SLUICE_TRUSTED_PROXIES,
    allowedHosts: origins.map((origin) => new URL(origin).host),
  });
  const server = await listen(app, { host: config.HOST, port: ports.consoleBff });
  const admin = await startAdminServer({
    host: config.HOST,
    port: ports.consoleBffAdmin,
    metrics,
    ready: () => ({ ready: true, detail: {} }),
  }).catch(async (error: unknown) => {
    await server.close();
    throw error;
  });
  return {
    url: server.url,
    async close() {
      pool.close();
      await Promise.all([server.close(), admin.close()]);
    },
  };
}
