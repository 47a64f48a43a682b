import { z } from 'zod';
import { DEFAULT_CELL_ID, Instant, KeyId, Name, NanoUsd, PicoUsdPerToken, Sha256Hex, Slug, Uuid } from './ids.ts';
import { Limits, Policy, PolicyOverride, TimeZone } from './policy.ts';
import { PriceBook } from './catalogue.ts';

export const TenantStatus = z.enum(['active', 'suspended']);

/** Id of the quota window by which gateways enforce the overage cap; the control plane derives it. */
export const OVERAGE_WINDOW = 'overage-cap';

/** A paying customer. Its caps span all of its workspaces. */
export const Tenant = z.strictObject({
  id: Name,
  name: z.string().min(1).max(200),
  plan: Name,
  timeZone: TimeZone.default('UTC'),
  status: TenantStatus.default('active'),
  limits: Limits,
  /**
   * Hard cap of overage a month, nanodollars; the plan's when absent. Gateways enforce it as the quota window
   * `OVERAGE_WINDOW` of `limits`.
   */
  overageCapNanoUsd: NanoUsd.optional(),
});
export type Tenant = z.infer<typeof Tenant>;

/** A namespace that a tenant owns. `uuid` never changes and is what upstream providers see. */
export const Workspace = z.strictObject({
  slug: Slug,
  uuid: Uuid,
  tenant: Name,
  cellId: Name.default(DEFAULT_CELL_ID),
  status: TenantStatus.default('active'),
  override: PolicyOverride.prefault({}),
});
export type Workspace = z.infer<typeof Workspace>;

export const Plan = z.strictObject({
  id: Name,
  displayName: z.string().min(1).max(100),
  /** Default policy of its workspaces. */
  policy: Policy,
  /** Default limits of its tenants. */
  tenantLimits: Limits,
  priceBook: PriceBook,
  /** Included in the plan's fee each month; what is above is overage. */
  allotment: z.strictObject({
    totalTokens: z.int().min(0),
    feeNanoUsd: z.int().min(0),
    /**
     * What a token above the allotment costs, and how much of it a month may cost unless the customer sets another
     * cap. Absent: no overage is sold.
     */
    overage: z.strictObject({ picoUsdPerToken: PicoUsdPerToken.min(1), capNanoUsd: NanoUsd }).optional(),
  }),
});
export type Plan = z.infer<typeof Plan>;

export const Cell = z.strictObject({ id: Name, kind: z.enum(['shared', 'dedicated']), tenant: Name.optional() });
export type Cell = z.infer<typeof Cell>;

/** An API key at rest: the digest only. */
export const ApiKeyRecord = z.strictObject({
  keyId: KeyId,
  digest: Sha256Hex,
  workspace: Slug,
  name: z.string().min(1).max(100),
  createdAt: Instant,
  expiresAt: Instant.optional(),
  limits: Limits.optional(),
  allowModels: z.array(Name).min(1).optional(),
  /** CIDR ranges. */
  allowAddresses: z.array(z.string().min(1)).min(1).optional(),
  tags: z.record(z.string().max(64), z.string().max(256)).default({}),
});
export type ApiKeyRecord = z.infer<typeof ApiKeyRecord>;

export const PERMISSIONS = [
  'usage:read',
  'cost:read',
  'trace:read',
  'policy:read',
  'policy:write',
  'keys:write',
  'members:write',
  'billing:read',
  'billing:write',
] as const;
export const Permission = z.enum(PERMISSIONS);
export type Permission = z.infer<typeof Permission>;

export const Role = z.enum(['viewer', 'developer', 'finance', 'admin']);
export type Role = z.infer<typeof Role>;

export const ROLE_PERMISSIONS: Record<Role, readonly Permission[]> = {
  viewer: ['usage:read', 'policy:read'],
  developer: ['usage:read', 'trace:read', 'policy:read', 'keys:write'],
  finance: ['usage:read', 'cost:read', 'billing:read', 'billing:write'],
  admin: PERMISSIONS,
};

export const OperatorRole = z.enum(['viewer', 'operator', 'admin']);
export type OperatorRole = z.infer<typeof OperatorRole>;

/** A signed-in person with a role per workspace. */
export const Principal = z.object({
  kind: z.literal('person'),
  userId: z.string().min(1),
  email: z.string().min(3),
  roles: z.record(Slug, Role),
});
export type Principal = z.infer<typeof Principal>;
