import { z } from 'zod';
import { PRINCIPAL_SIGNING_KEY_ENV, SERVICE_TOKEN_ENV } from '@sluice/contracts';
import { SERVICE_ENV, TrustedProxies } from '@sluice/service-kit';

/** What the control plane reads from its environment. */
export const ControlPlaneEnv = z.object({
  ...SERVICE_ENV,
  DATABASE_URL: z.string(),
  AWS_ENDPOINT_URL: z.string().optional(),
  AWS_REGION: z.string().default('eu-central-1'),
  AWS_ACCOUNT_ID: z
    .string()
    .regex(/^\d{12}$/, 'must be 12 digits')
    .optional(),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  SLUICE_OPERATOR_USER: z.string().max(200),
  SLUICE_OPERATOR_PASSWORD: z.string().min(8).max(500),
  [SERVICE_TOKEN_ENV.gatewayToControlPlane]: z.string().min(16),
  [SERVICE_TOKEN_ENV.bffToControlPlane]: z.string().min(16),
  [SERVICE_TOKEN_ENV.routerToControlPlane]: z.string().min(16).optional(),
  [PRINCIPAL_SIGNING_KEY_ENV]: z.string().min(16),
  SLUICE_DATA_KEY: z.string().optional(),
  SLUICE_DATA_KEY_FILE: z.string().optional(),
  SLUICE_SEED_FILE: z.string().optional(),
  SLUICE_GATEWAY_URL: z.string().optional(),
  SLUICE_SIM_CONTROL_URL: z.string().optional(),
  /** The routing service, whose picture the operator console shows; without both it says so. */
  SLUICE_ROUTER_URL: z.string().optional(),
  [SERVICE_TOKEN_ENV.callersToRouter]: z.string().min(16).optional(),
  /** Where gateways count limits, so that chaos can cut it. */
  SLUICE_LIMIT_STORE: z.enum(['memory', 'valkey']).default('memory'),
  VALKEY_URL: z.string().optional(),
  /** With `1` webhooks may also go to this machine and over plain http: for tests and demos. */
  SLUICE_WEBHOOK_LOOPBACK: z.enum(['0', '1']).default('0'),
  /** Days for which ended alerts, deliveries, anomalies and records that were put aside are kept. */
  SLUICE_KEEP_DAYS: z.coerce.number().int().min(35).max(3_650).default(90),
  /** Chaos routes exist only with `1`. */
  SLUICE_CHAOS: z.enum(['0', '1']).default('0'),
  SLUICE_TRUSTED_PROXIES: TrustedProxies,
  /** Further hosts that the operator API answers to, `name:port`, comma separated; loopback names always. */
  SLUICE_OPERATOR_HOSTS: z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((host) => host.trim())
        .filter((host) => host !== ''),
    ),
});
export type ControlPlaneEnv = z.infer<typeof ControlPlaneEnv>;
