import { ROLE_PERMISSIONS, type Permission, type Principal, type Tenant, type Workspace } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import { param } from '../api/actor.ts';
import type { RouteCall } from '../api/route.ts';
import type { ConfigStore } from '../config/config-store.ts';

/** A person in a workspace in which they hold a permission. */
export interface Admitted {
  readonly principal: Principal;
  readonly workspace: Workspace;
  readonly tenant: Tenant;
  readonly may: (permission: Permission) => boolean;
}

/**
 * Scopes a call of the console's backend once more, whatever the backend has checked: the person whom it has signed
 * must hold the permission in the workspace of the path.
 *
 * @throws ProblemError 404 for a workspace that is not theirs, as for one that does not exist; 403 without the
 * permission.
 */
export function admit(store: ConfigStore, call: RouteCall<unknown, unknown>, permission: Permission): Admitted {
  const slug = param(call, 'slug');
  const { principal } = call;
  const role = principal !== undefined && Object.hasOwn(principal.roles, slug) ? principal.roles[slug] : undefined;
  if (principal === undefined || role === undefined) throw new ProblemError(404, 'Not found');
  if (!ROLE_PERMISSIONS[role].includes(permission)) throw new ProblemError(403, 'Your role does not allow this');
  const { workspaces, tenants } = store.snapshot();
  const workspace = Object.hasOwn(workspaces, slug) ? workspaces[slug] : undefined;
  const tenant = workspace === undefined ? undefined : tenants[workspace.tenant];
  if (workspace === undefined || tenant === undefined) throw new ProblemError(404, 'Not found');
  return { principal, workspace, tenant, may: (wanted) => ROLE_PERMISSIONS[role].includes(wanted) };
}
