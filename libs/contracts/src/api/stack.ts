import { z } from 'zod';
import { Role } from '../tenancy.ts';

const Service = z.object({
  url: z.string(),
  adminUrl: z.string().optional(),
  pid: z.int().optional(),
  token: z.string().optional(),
});

/** `.sluice/stack.json`: written by `make up` with mode 0600, removed by `make down`. */
export const StackFile = z.object({
  mode: z.enum(['embedded', 'compose']),
  services: z.object({
    edge: Service.optional(),
    gateway: Service,
    'control-plane': Service,
    console: Service,
    'console-bff': Service,
    router: Service,
    spine: Service,
    'provider-sim': Service.extend({ providers: z.record(z.string(), z.string()) }),
    prometheus: Service.optional(),
    grafana: Service.optional(),
  }),
  keys: z.record(z.string(), z.string()),
  operator: z.object({ user: z.string(), password: z.string() }),
  users: z.array(z.object({ email: z.string(), password: z.string(), roles: z.record(z.string(), Role) })),
});
export type StackFile = z.infer<typeof StackFile>;
