import type { Permission, Role } from '@sluice/contracts';

/** What each permission lets a person do, to end the sentence `lets you …`, and which roles have it. */
export const PERMISSION_WORDS: Readonly<
  Record<Permission, { readonly lets: string; readonly roles: readonly Role[] }>
> = {
  'usage:read': { lets: 'see traffic and usage', roles: ['viewer', 'developer', 'finance', 'admin'] },
  'cost:read': { lets: 'see what calls cost', roles: ['finance', 'admin'] },
  'trace:read': { lets: 'see single requests', roles: ['developer', 'admin'] },
  'policy:read': { lets: 'see limits and policy', roles: ['viewer', 'developer', 'admin'] },
  'policy:write': { lets: 'change limits and policy', roles: ['admin'] },
  'keys:write': { lets: 'make and revoke API keys', roles: ['developer', 'admin'] },
  'members:write': { lets: 'see and change who belongs to the workspace', roles: ['admin'] },
  'billing:read': { lets: 'see bills', roles: ['finance', 'admin'] },
  'billing:write': { lets: 'change how much may be spent', roles: ['finance', 'admin'] },
};

const LIST = new Intl.ListFormat('en', { type: 'disjunction' });

/** Roles that have a permission: `developer or admin`. */
export function rolesWith(permission: Permission): string {
  return LIST.format(PERMISSION_WORDS[permission].roles);
}
