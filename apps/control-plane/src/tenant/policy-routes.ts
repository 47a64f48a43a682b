import { CustomerOverride, PolicyOverride, PolicyView, type Plan, type Workspace } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import { editRow } from '../api/config-edit.ts';
import { etagOf, readPrecondition } from '../api/if-match.ts';
import { route, type Route } from '../api/route.ts';
import type { ConfigHistory } from '../config/config-history.ts';
import type { ConfigStore } from '../config/config-store.ts';
import { admit, type Admitted } from './admit.ts';
import { conflictingPaths, editedOverride, policyView, shownOverride } from './customer-policy.ts';

const PATH = '/internal/workspaces/:slug/policy';

/** The policy of a workspace for its own people: they see it all, and change what the plan leaves to them. */
export function customerPolicyRoutes({ store, history }: { store: ConfigStore; history: ConfigHistory }): Route[] {
  const planOf = ({ tenant }: Admitted): Plan => {
    const plan = store.snapshot().plans[tenant.plan];
    if (plan === undefined) throw new ProblemError(404, 'Not found');
    return plan;
  };
  const view = (slug: string, plan: Plan, mayWrite: boolean): PolicyView => {
    const workspace = store.snapshot().workspaces[slug];
    if (workspace === undefined) throw new ProblemError(404, 'Not found');
    return policyView(workspace, plan, store.rowVersion('workspaces', slug) ?? 1, mayWrite);
  };
  return [
    route({
      method: 'get',
      path: PATH,
      auth: 'person',
      tag: 'Workspace',
      summary: 'The policy of a workspace, and where each field comes from',
      response: PolicyView,
      handler: (call) => {
        const admitted = admit(store, call, 'policy:read');
        const found = view(admitted.workspace.slug, planOf(admitted), admitted.may('policy:write'));
        call.res.set('etag', etagOf(found.version));
        return found;
      },
    }),
    route({
      method: 'put',
      path: PATH,
      auth: 'person',
      tag: 'Workspace',
      summary: 'Replace what the customer may override; If-Match is needed, 412 gives the base and the current version',
      body: CustomerOverride,
      response: PolicyView,
      streams: true,
      handler: async (call) => {
        const admitted = admit(store, call, 'policy:write');
        const plan = planOf(admitted);
        const { slug, tenant } = admitted.workspace;
        const given = readPrecondition(call.req);
        const seen = given.kind === 'version' ? given.version : undefined;
        if (given.kind === 'none')
          throw new ProblemError(428, 'If-Match is missing', {
            detail: 'Send the ETag of the version that you have edited.',
          });
        try {
          if (seen !== undefined && seen !== store.rowVersion('workspaces', slug))
            throw new ProblemError(412, 'Changed in the meantime');
          const override = PolicyOverride.parse(editedOverride(admitted.workspace.override, call.body, plan));
          await editRow(store, call, {
            table: 'workspaces',
            id: slug,
            value: { ...admitted.workspace, override },
            type: 'policy.changed',
            tenant,
            workspace: slug,
            show: (row) => (row as Workspace).override,
          });
        } catch (error) {
          if (!(error instanceof ProblemError)) throw error;
          if (error.status !== 412) throw withoutPrefix(error);
          const known = seen === undefined ? undefined : await history.at('workspaces', slug, seen);
          const base =
            known?.value === undefined
              ? null
              : { version: known.version, override: shownOverride((known.value as Workspace).override) };
          const current = view(slug, plan, true);
          call.res
            .status(412)
            .set('etag', etagOf(current.version))
            .json({ base, current, conflicts: conflictingPaths(base?.override, current.override, call.body) });
          return;
        }
        const written = view(slug, plan, true);
        call.res.set('etag', etagOf(written.version)).json(written);
      },
    }),
  ];
}

/** The body is the override itself, so field paths begin below it. */
function withoutPrefix(problem: ProblemError): ProblemError {
  for (const fault of problem.errors ?? []) fault.path = fault.path.replace(/^override\./, '');
  return problem;
}
