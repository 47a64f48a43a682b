import { z } from 'zod';
import { API_KEY_PATTERN, KeyId, Slug } from '../ids.ts';
import { Cell, Plan, Role, Tenant, Workspace } from '../tenancy.ts';
import { Model, Provider } from '../catalogue.ts';

/** What an empty control plane starts from (`SLUICE_SEED_FILE`). It holds secrets in the clear, so the file has mode 0600. */
export const SeedFile = z.strictObject({
  cells: z.array(Cell),
  plans: z.array(Plan),
  tenants: z.array(Tenant),
  workspaces: z.array(Workspace),
  providers: z.array(Provider),
  models: z.array(Model),
  keys: z.array(z.strictObject({ keyId: KeyId, key: z.string().regex(API_KEY_PATTERN), workspace: Slug, name: z.string().min(1) })),
  users: z.array(z.strictObject({ email: z.string().min(3), password: z.string().min(8), roles: z.record(Slug, Role) })),
});
export type SeedFile = z.infer<typeof SeedFile>;
