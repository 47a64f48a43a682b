import type { ConfigSnapshot, Role, RoleOffer } from '@sluice/contracts';
import type { PersonAccount } from '../accounts/account-store.ts';
import type { AuditInput } from '../config/config-repository.ts';
import type { Members, NewMember } from './members.ts';

type Roles = Readonly<Record<string, Role>>;
type Workspaces = Pick<ConfigSnapshot, 'workspaces'>;

/** What an operator declares of an account that is there already: what holds at once, and what its owner must take. */
export interface Grants {
  readonly active: Record<string, Role>;
  /** Roles in tenants in which the account has none. */
  readonly offered: Record<string, Role>;
}

/**
 * An address proves nothing: whoever made an account under it chose its password. So a role in a tenant in which the
 * account has none yet becomes an invitation, and only what is declared within the account's tenants holds at once.
 */
export function splitGrants(account: Pick<PersonAccount, 'roles'>, wanted: Roles, { workspaces }: Workspaces): Grants {
  const tenantOf = (slug: string): string | undefined =>
    Object.hasOwn(workspaces, slug) ? workspaces[slug]?.tenant : undefined;
  const own = new Set(Object.keys(account.roles).map(tenantOf));
  const grants: Grants = { active: {}, offered: {} };
  for (const [slug, role] of Object.entries(wanted)) {
    const holds = Object.hasOwn(account.roles, slug) || own.has(tenantOf(slug));
    (holds ? grants.active : grants.offered)[slug] = role;
  }
  return grants;
}

/** Invites the account to the workspaces; an open invitation of the same workspace is replaced. */
export async function offerRoles(
  members: Pick<Members, 'add'>,
  { workspaces }: Workspaces,
  email: string,
  { offered, actor }: { offered: Roles; actor: AuditInput['actor'] },
): Promise<RoleOffer[]> {
  const offers: RoleOffer[] = [];
  for (const [workspace, role] of Object.entries(offered)) {
    const tenant = workspaces[workspace]?.tenant ?? '';
    const made: NewMember = await members.add({ workspace, tenant, siblings: [], actor }, email.toLowerCase(), role);
    if (made.invitation === undefined || made.expiresMs === undefined) continue;
    const expires_at = new Date(made.expiresMs).toISOString();
    offers.push({ email: made.email, workspace, role, invitation: made.invitation, expires_at });
  }
  return offers;
}
