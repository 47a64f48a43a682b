import type { Request, RequestHandler } from 'express';
import { ROLE_PERMISSIONS, type Clock, type Principal } from '@sluice/contracts';
import { parseBody, parseQuery, ProblemError } from '@sluice/service-kit';
import type { ControlPlane } from './control-plane.ts';
import type { ScopedRoute } from './route-table.ts';

/** The one answer for what is not there and for what belongs to somebody else; it says nothing of what was asked for. */
export function notFound(): ProblemError {
  return new ProblemError(404, 'Not found');
}

export interface ScopeDeps {
  controlPlane: ControlPlane;
  /** The signed-in person. @throws ProblemError 401 */
  principalOf: (req: Request) => Principal;
  clock: Pick<Clock, 'now'>;
}

/**
 * The only way to a workspace's data: session, then the role in the workspace (404 without one), then the role's
 * permission (403), then query and body, then the control plane, then the strict view.
 */
export function scopedHandler(route: ScopedRoute, { controlPlane, principalOf, clock }: ScopeDeps): RequestHandler {
  return async function scoped(req, res) {
    const principal = principalOf(req);
    const slug = req.query['workspace'];
    if (typeof slug !== 'string') throw new ProblemError(400, 'Name one workspace', { detail: 'Add ?workspace=<slug> to the address.' });
    const role = Object.hasOwn(principal.roles, slug) ? principal.roles[slug] : undefined;
    if (role === undefined) throw notFound();
    const permissions = ROLE_PERMISSIONS[role];
    if (!permissions.includes(route.permission)) {
      throw new ProblemError(403, 'Your role in this workspace does not allow this', { detail: `It needs the permission ${route.permission}.` });
    }
    if (route.built === undefined) throw new ProblemError(501, 'This part of the console is not built yet');
    const { built } = route;
    const query = built.query === undefined ? {} : parseQuery(built.query, req);
    const body = built.body === undefined ? undefined : parseBody(built.body, req);
    const params = req.params as Record<string, string>;
    const view = await built.answer(controlPlane, { principal, slug, query, params, body, nowMs: clock.now(), sight: { cost: permissions.includes('cost:read') } });
    if (view === undefined) throw notFound();
    res.set('cache-control', 'private, no-store').status(built.status ?? 200);
    if (built.view === undefined) res.end();
    else res.json(built.view.parse(view));
  };
}
