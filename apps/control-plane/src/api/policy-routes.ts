import { z } from 'zod';
import { mergePolicy, Policy, PolicyOverride, type Workspace } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { ConfigStore } from '../config/config-store.ts';
import { param } from './actor.ts';
import { editRow } from './config-edit.ts';
import { etagOf } from './if-match.ts';
import { route, type Route, type RouteAuth, type RouteCall } from './route.ts';

export const PolicyView = z.object({ override: PolicyOverride, effective: Policy, version: z.int() });
export type PolicyView = z.infer<typeof PolicyView>;

/** The workspace of a call. @throws ProblemError 404 when there is none of that name. */
export function requireWorkspace(store: ConfigStore, slug: string): Workspace {
  const rows = store.snapshot().workspaces;
  const workspace = Object.hasOwn(rows, slug) ? rows[slug] : undefined;
  if (workspace === undefined) throw new ProblemError(404, 'Not found');
  return workspace;
}

/** Reading and replacing a workspace's overrides, below `prefix`; `admit` decides who may. */
export function policyRoutes(deps: {
  store: ConfigStore;
  prefix: string;
  auth: { readonly read: RouteAuth; readonly write: RouteAuth };
  admit: (call: RouteCall<unknown, unknown>, permission: 'policy:read' | 'policy:write') => void;
}): Route[] {
  const { store, prefix, auth, admit } = deps;

  function view(slug: string): PolicyView {
    const { override, tenant } = requireWorkspace(store, slug);
    const config = store.snapshot();
    const plan = config.plans[config.tenants[tenant]?.plan ?? ''];
    if (plan === undefined) throw new ProblemError(404, 'Not found');
    return {
      override,
      effective: mergePolicy(plan.policy, override),
      version: store.rowVersion('workspaces', slug) ?? 0,
    };
  }

  return [
    route({
      method: 'get',
      path: `${prefix}/:slug/policy`,
      auth: auth.read,
      tag: 'Policy',
      summary: "A workspace's overrides and the policy that results",
      response: PolicyView,
      handler: (call) => {
        admit(call, 'policy:read');
        const found = view(param(call, 'slug'));
        call.res.set('etag', etagOf(found.version));
        return found;
      },
    }),
    route({
      method: 'put',
      path: `${prefix}/:slug/policy`,
      auth: auth.write,
      tag: 'Policy',
      summary: "Replace a workspace's overrides; with If-Match, 412 when they have changed",
      precondition: 'optional',
      body: PolicyOverride,
      response: PolicyView,
      handler: async (call) => {
        admit(call, 'policy:write');
        const slug = param(call, 'slug');
        const workspace = requireWorkspace(store, slug);
        await withoutPrefix(() =>
          editRow(store, call, {
            table: 'workspaces',
            id: slug,
            value: { ...workspace, override: call.body },
            type: 'policy.changed',
            tenant: workspace.tenant,
            workspace: slug,
            show: (row) => (row as Workspace).override,
            lastWriterWins: true,
          }),
        );
        return view(slug);
      },
    }),
  ];
}

/** The body is the override itself, so field paths begin below it. */
async function withoutPrefix<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProblemError && error.errors !== undefined) {
      for (const fault of error.errors) fault.path = fault.path.replace(/^override\./, '');
    }
    throw error;
  }
}
