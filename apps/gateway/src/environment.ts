import { join } from 'node:path';
import { DEFAULT_CELL_ID, portsFrom, PRINCIPAL_SIGNING_KEY_ENV } from '@sluice/contracts';
import { loadConfig, secretBoxFrom, SERVICE_ENV, type SecretBox } from '@sluice/service-kit';
import { z } from 'zod';

/** It would mean something else than it did, so a process that is given it does not start. */
const FORMER_SHARE_ENV = 'SLUICE_OUTBOX_WORKSPACE_PERCENT';

const GatewayEnv = z.object({
  ...SERVICE_ENV,
  SLUICE_DATA_DIR: z.string().min(1),
  SLUICE_GATEWAY_ID: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
    .default('gw-1'),
  SLUICE_CELL_ID: z.string().min(1).default(DEFAULT_CELL_ID),
  SLUICE_BASE_DOMAIN: z.string().min(1).default('sluice.localhost'),
  SLUICE_CONTROL_PLANE_URL: z.url(),
  SLUICE_TOKEN_GATEWAY: z.string().min(16),
  SLUICE_ROUTER_URL: z.url().optional(),
  SLUICE_TOKEN_ROUTER: z.string().min(16).optional(),
  [PRINCIPAL_SIGNING_KEY_ENV]: z.string().min(16).optional(),
  SLUICE_SECRETS_DIR: z.string().min(1).optional(),
  SLUICE_DATA_KEY: z.string().optional(),
  SLUICE_DATA_KEY_FILE: z.string().optional(),
  SLUICE_CORS_ORIGINS: z.string().default(''),
  SLUICE_CONNECTIONS_PER_NETWORK: z.coerce.number().int().min(1).max(20_000).default(10_000),
  SLUICE_CONFIG_MAX_AGE_S: z.coerce.number().int().min(10).optional(),
  SLUICE_OUTBOX_MAX_MB: z.coerce.number().int().min(1).default(1024),
  SLUICE_OUTBOX_MAX_HOURS: z.coerce.number().min(0.01).default(24),
  /** With `1` the gateway obeys the control plane's order to be killed. */
  SLUICE_CHAOS: z.enum(['0', '1']).default('0'),
  SLUICE_OUTBOX_TENANT_PERCENT: z.coerce.number().gt(0).max(100).default(25),
  [FORMER_SHARE_ENV]: z
    .undefined(
      'the share of the outbox is counted by tenant now, in all its workspaces; set SLUICE_OUTBOX_TENANT_PERCENT instead',
    )
    .optional(),
  SLUICE_OUTBOX_FSYNC: z.enum(['interval', 'always']).default('interval'),
  SLUICE_OUTBOX_AT_BOUND: z.enum(['refuse', 'serve']).default('refuse'),
  SLUICE_DRAIN_S: z.coerce.number().int().min(1).default(25),
  SLUICE_LIMIT_STORE: z.enum(['memory', 'valkey']).default('memory'),
  VALKEY_URL: z.string().min(1).optional(),
  AWS_ENDPOINT_URL: z.url().optional(),
  AWS_REGION: z.string().default('eu-central-1'),
  AWS_ACCOUNT_ID: z
    .string()
    .regex(/^\d{12}$/, 'must be 12 digits')
    .optional(),
});

/** Everything the gateway reads from its environment, with units in the names. */
export interface GatewaySettings {
  readonly host: string;
  readonly port: number;
  readonly adminPort: number;
  readonly gatewayId: string;
  readonly cellId: string;
  readonly baseDomain: string;
  readonly controlPlaneUrl: string;
  readonly controlPlaneToken: string;
  /** Verifies in whose name the console's backend calls; without it only keys may call. */
  readonly principalKey: string | undefined;
  /** Whose snapshots decide about `auto`; without it the default model answers. */
  readonly router: { readonly url: string; readonly token: string } | undefined;
  /** This gateway's own state. */
  readonly dataDir: string;
  readonly secretsDir: string | undefined;
  /** Opens the secrets that were entered in the control plane; undefined without a data key. */
  readonly secretBox: SecretBox | undefined;
  readonly corsOrigins: readonly string[];
  /** Connections that one address (of IPv6: one /64) may have. */
  readonly connectionsPerNetwork: number;
  readonly configMaxAgeMs: number | undefined;
  readonly outboxMaxBytes: number;
  readonly outboxMaxAgeMs: number;
  /** What one tenant may have of the outbox in all its workspaces, above 0 and at most 1. */
  readonly outboxTenantShare: number;
  /** Milliseconds between forcing records to the disk; 0 forces each before its answer ends. */
  readonly outboxFsyncMs: number;
  readonly outboxAtBound: 'refuse' | 'serve';
  readonly drainMs: number;
  /** True lets the control plane kill this process for a chaos test. */
  readonly chaos: boolean;
  /** Where limits are kept; the URL is there when it is `valkey`. */
  readonly limitStore: { readonly kind: 'memory' } | { readonly kind: 'valkey'; readonly url: string };
  readonly spineEndpoint: string | undefined;
  readonly region: string;
  readonly awsAccount: string | undefined;
  readonly logLevel: string;
}

/** @throws ConfigError naming each variable that is missing or wrong. */
export function readSettings(env: Readonly<Record<string, string | undefined>>): GatewaySettings {
  const parsed = loadConfig(GatewayEnv, env);
  const ports = portsFrom(parsed.SLUICE_PORT_BASE);
  return {
    host: parsed.HOST,
    port: ports.gateway,
    adminPort: ports.gatewayAdmin,
    gatewayId: parsed.SLUICE_GATEWAY_ID,
    cellId: parsed.SLUICE_CELL_ID,
    chaos: parsed.SLUICE_CHAOS === '1',
    baseDomain: parsed.SLUICE_BASE_DOMAIN,
    controlPlaneUrl: parsed.SLUICE_CONTROL_PLANE_URL,
    controlPlaneToken: parsed.SLUICE_TOKEN_GATEWAY,
    principalKey: parsed[PRINCIPAL_SIGNING_KEY_ENV],
    router:
      parsed.SLUICE_ROUTER_URL === undefined || parsed.SLUICE_TOKEN_ROUTER === undefined
        ? undefined
        : { url: parsed.SLUICE_ROUTER_URL, token: parsed.SLUICE_TOKEN_ROUTER },
    dataDir: join(parsed.SLUICE_DATA_DIR, 'gateway'),
    secretsDir: parsed.SLUICE_SECRETS_DIR,
    secretBox: secretBoxFrom({ key: parsed.SLUICE_DATA_KEY, file: parsed.SLUICE_DATA_KEY_FILE }),
    corsOrigins: parsed.SLUICE_CORS_ORIGINS.split(',')
      .map((origin) => origin.trim())
      .filter((origin) => origin !== ''),
    connectionsPerNetwork: parsed.SLUICE_CONNECTIONS_PER_NETWORK,
    configMaxAgeMs: parsed.SLUICE_CONFIG_MAX_AGE_S === undefined ? undefined : parsed.SLUICE_CONFIG_MAX_AGE_S * 1000,
    outboxMaxBytes: parsed.SLUICE_OUTBOX_MAX_MB * 1024 * 1024,
    outboxMaxAgeMs: parsed.SLUICE_OUTBOX_MAX_HOURS * 3_600_000,
    outboxTenantShare: parsed.SLUICE_OUTBOX_TENANT_PERCENT / 100,
    outboxFsyncMs: parsed.SLUICE_OUTBOX_FSYNC === 'always' ? 0 : 100,
    outboxAtBound: parsed.SLUICE_OUTBOX_AT_BOUND,
    drainMs: parsed.SLUICE_DRAIN_S * 1000,
    limitStore:
      parsed.SLUICE_LIMIT_STORE === 'memory'
        ? { kind: 'memory' }
        : { kind: 'valkey', url: parsed.VALKEY_URL ?? `redis://127.0.0.1:${ports.valkey}` },
    spineEndpoint: parsed.AWS_ENDPOINT_URL,
    region: parsed.AWS_REGION,
    awsAccount: parsed.AWS_ACCOUNT_ID,
    logLevel: parsed.LOG_LEVEL,
  };
}
