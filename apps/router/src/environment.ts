import { DriftStep, SERVICE_TOKEN_ENV } from '@sluice/contracts';
import { SERVICE_ENV } from '@sluice/service-kit';
import { z } from 'zod';

/** What the router reads from its environment. */
export const RouterEnv = z.object({
  ...SERVICE_ENV,
  [SERVICE_TOKEN_ENV.callersToRouter]: z.string().min(16, 'must have at least 16 characters'),
  [SERVICE_TOKEN_ENV.routerToControlPlane]: z.string().min(16, 'must have at least 16 characters').optional(),
  SLUICE_CONTROL_PLANE_URL: z.url().optional(),
  DATABASE_URL: z.string().optional(),
  AWS_ENDPOINT_URL: z.url().optional(),
  AWS_REGION: z.string().default('eu-central-1'),
  AWS_ACCOUNT_ID: z
    .string()
    .regex(/^\d{12}$/, 'must be 12 digits')
    .optional(),
  SLUICE_REWARD_TIMEOUT_S: z.coerce
    .number()
    .int()
    .min(1)
    .max(30 * 86_400)
    .default(86_400),
  SLUICE_DEFAULT_REWARD: z.coerce.number().min(0).max(1).optional(),
  SLUICE_ROUTER_KEEP_DAYS: z.coerce.number().min(1).max(3_650).default(90),
  SLUICE_ROUTER_KEEP_ROWS: z.coerce.number().int().min(10_000).max(1_000_000_000).default(1_000_000),
  SLUICE_ROUTER_TENANT_RPS: z.coerce.number().min(1).max(1_000_000).default(500),
  SLUICE_DRIFT_REACTIONS: z.union([z.literal('off'), DriftStep.exclude(['watching'])]).default('rollback'),
});
export type RouterEnv = z.infer<typeof RouterEnv>;
