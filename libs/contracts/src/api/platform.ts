import { z } from 'zod';
import { Credential, Model, Provider, SecretRef } from '../catalogue.ts';
import { API_KEY_PATTERN, Slug } from '../ids.ts';
import { ApiKeyRecord, Cell, Plan, Role, Tenant, Workspace } from '../tenancy.ts';

const [envSecret, fileSecret] = SecretRef.options;

/** A secret as it is written: where it is, or itself, which is encrypted at once and never shown again. */
export const SecretInput = z.discriminatedUnion('kind', [
  envSecret,
  fileSecret,
  z.strictObject({ kind: z.literal('entered'), value: z.string().min(1).max(8192) }),
  /** The one that is stored already. */
  z.strictObject({ kind: z.literal('encrypted') }),
]);
export type SecretInput = z.infer<typeof SecretInput>;

export const CredentialInput = Credential.extend({ secret: SecretInput.optional() });
export type CredentialInput = z.infer<typeof CredentialInput>;

/** A provider as it is written, and as it is shown: a stored secret is `{ "kind": "encrypted" }`. */
export const ProviderInput = Provider.extend({ credentials: z.array(CredentialInput).min(1).max(64) });
export type ProviderInput = z.infer<typeof ProviderInput>;

/**
 * A key of a declared platform: whole, so that it is made with just this text, or without `key` one that is there
 * already.
 */
export const DeclaredKey = ApiKeyRecord.omit({ digest: true, createdAt: true }).extend({
  key: z.string().regex(API_KEY_PATTERN, 'must be sk-sluice-<keyId>-<secret>').optional(),
});
export type DeclaredKey = z.infer<typeof DeclaredKey>;

/** A person of a declared platform; the password is needed, and used, only when the person is made. */
export const DeclaredUser = z.strictObject({
  email: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[^@\s]+@[^@\s]+$/, 'must be an e-mail address'),
  password: z.string().min(8).max(500).optional(),
  roles: z.record(Slug, Role),
});
export type DeclaredUser = z.infer<typeof DeclaredUser>;

/** The tables of a declared platform, in the order in which they are told of. */
export const PLATFORM_TABLES = ['cells', 'providers', 'models', 'plans', 'tenants', 'workspaces', 'keys'] as const;
export type PlatformTable = (typeof PLATFORM_TABLES)[number];

/**
 * A platform as it is to be: what `sluice apply -f` takes and `sluice export` writes. A section that is absent is
 * left alone. Rows that are not in a section are removed only when that is asked for.
 */
export const PlatformDocument = z.strictObject({
  cells: z.array(Cell).optional(),
  providers: z.array(ProviderInput).optional(),
  models: z.array(Model).optional(),
  plans: z.array(Plan).optional(),
  tenants: z.array(Tenant).optional(),
  workspaces: z.array(Workspace.partial({ uuid: true })).optional(),
  keys: z.array(DeclaredKey).optional(),
  users: z.array(DeclaredUser).optional(),
});
export type PlatformDocument = z.infer<typeof PlatformDocument>;

/** `POST /api/platform/diff` and `/api/platform/apply`. */
export const PlatformRequest = z.strictObject({
  document: PlatformDocument,
  /** Remove rows of the document's sections that it does not name. */
  prune: z.boolean().default(false),
  /** Of a diff that was looked at: 412 when the configuration has changed since. */
  ifVersion: z.int().min(0).optional(),
});
export type PlatformRequest = z.infer<typeof PlatformRequest>;

/** One row that is not as declared; `fields` are the paths that differ, secrets never with their values. */
export const PlatformChange = z.object({
  table: z.enum([...PLATFORM_TABLES, 'users']),
  id: z.string(),
  action: z.enum(['create', 'update', 'delete']),
  fields: z.array(z.object({ path: z.string(), before: z.unknown().optional(), after: z.unknown().optional() })),
});
export type PlatformChange = z.infer<typeof PlatformChange>;

/** A role that holds once the account's owner has taken the invitation; its secret is shown this once. */
export const RoleOffer = z.object({
  email: z.string(),
  workspace: Slug,
  role: Role,
  invitation: z.string(),
  expires_at: z.string(),
});
export type RoleOffer = z.infer<typeof RoleOffer>;

export const PlatformDiff = z.object({
  /** The configuration that the diff was made against, or that the change led to. */
  version: z.int(),
  changes: z.array(PlatformChange),
  /** Rows that are there and not declared, in sections that are; they stay unless `prune` is given. */
  undeclared: z.array(z.object({ table: z.string(), id: z.string() })),
  applied: z.boolean(),
  /** Of what was applied: roles of accounts in tenants that are new to them. */
  invitations: z.array(RoleOffer).default([]),
});
export type PlatformDiff = z.infer<typeof PlatformDiff>;

/**
 * What an empty control plane starts from (`SLUICE_SEED_FILE`): a declared platform that holds secrets in the
 * clear, so the file has mode 0600.
 */
export const SeedFile = z.strictObject({
  ...PlatformDocument.required().shape,
  workspaces: z.array(Workspace),
  keys: z.array(DeclaredKey.required({ key: true })),
  users: z.array(DeclaredUser.required({ password: true })),
});
export type SeedFile = z.infer<typeof SeedFile>;
