import { DEFAULT_CELL_ID, LOCAL_ACCOUNT, LOCAL_REGION } from '@sluice/contracts';
import { SIM_SECRET_ENV } from '../demo/seed-file.ts';
import type { StackSecrets } from './secrets.ts';
import { stackFiles, urlOf, type StackSettings } from './settings.ts';

export function databaseUrl(settings: StackSettings, secrets: Pick<StackSecrets, 'databasePassword'>): string {
  return (
    settings.externalDatabaseUrl ??
    `postgres://sluice:${secrets.databasePassword}@127.0.0.1:${settings.ports.postgres}/sluice`
  );
}

/** The environment of every part; docs/environment.md describes each name. */
export function stackEnvironment(settings: StackSettings, secrets: StackSecrets): NodeJS.ProcessEnv {
  return {
    ...settings.env,
    NODE_ENV: 'production',
    SLUICE_STACK_ID: secrets.stackId,
    SLUICE_PORT_BASE: String(settings.portBase),
    HOST: settings.host,
    SLUICE_DATA_DIR: settings.dataDir,
    SLUICE_SEED_FILE: stackFiles(settings.dataDir).seed,
    DATABASE_URL: databaseUrl(settings, secrets),
    AWS_ENDPOINT_URL: urlOf(settings, 'spine'),
    AWS_REGION: LOCAL_REGION,
    AWS_ACCOUNT_ID: LOCAL_ACCOUNT,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    SLUICE_CONTROL_PLANE_URL: urlOf(settings, 'controlPlane'),
    SLUICE_ROUTER_URL: urlOf(settings, 'router'),
    SLUICE_GATEWAY_URL: urlOf(settings, 'gateway'),
    SLUICE_SIM_CONTROL_URL: urlOf(settings, 'simControl'),
    SLUICE_CHAOS: settings.env['SLUICE_CHAOS'] ?? '1',
    SLUICE_WEBHOOK_LOOPBACK: settings.env['SLUICE_WEBHOOK_LOOPBACK'] ?? '0',
    SLUICE_BASE_DOMAIN: settings.env['SLUICE_BASE_DOMAIN'] ?? 'sluice.localhost',
    [SIM_SECRET_ENV]: 'simulated',
    SLUICE_GATEWAY_ID: 'gw-1',
    SLUICE_CELL_ID: DEFAULT_CELL_ID,
    SLUICE_DATA_KEY: secrets.dataKey,
    SLUICE_OPERATOR_USER: secrets.operator.user,
    SLUICE_OPERATOR_PASSWORD: secrets.operator.password,
    LOG_LEVEL: settings.env['LOG_LEVEL'] ?? 'info',
    ...secrets.tokens,
  };
}
