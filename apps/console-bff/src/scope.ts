import type { Request, RequestHandler, Response } from 'express';
import { ROLE_PERMISSIONS, type Clock, type Principal } from '@sluice/contracts';
import { parseBody, parseQuery, ProblemError, requestIdOf } from '@sluice/service-kit';
import type { ControlPlane } from './control-plane.ts';
import type { ReadShares } from './read-shares.ts';
import type { ScopedAnswer, ScopedRoute } from './routes/scoped-route.ts';

/**
 * The one answer for what is not there and for what belongs to somebody else; it says nothing of what was asked
 * for.
 */
export function notFound(): ProblemError {
  return new ProblemError(404, 'Not found');
}

export interface ScopeDeps {
  controlPlane: ControlPlane;
  /** The signed-in person. @throws ProblemError 401 */
  principalOf: (req: Request) => Promise<Principal>;
  clock: Pick<Clock, 'now'>;
  shares: ReadShares;
}

/**
 * The only way to a workspace's data: session, then the role in the workspace (404 without one), then the role's
 * permission (403), then query and body, then the control plane, then the strict view.
 */
export function scopedHandler(
  route: ScopedRoute,
  { controlPlane, principalOf, clock, shares }: ScopeDeps,
): RequestHandler {
  return async function scoped(req, res) {
    const principal = await principalOf(req);
    const slug = req.query['workspace'];
    if (typeof slug !== 'string')
      throw new ProblemError(400, 'Name one workspace', { detail: 'Add ?workspace=<slug> to the address.' });
    const role = Object.hasOwn(principal.roles, slug) ? principal.roles[slug] : undefined;
    if (role === undefined) throw notFound();
    const permissions = ROLE_PERMISSIONS[role];
    if (!permissions.includes(route.permission)) {
      throw new ProblemError(403, 'Your role in this workspace does not allow this', {
        detail: `It needs the permission ${route.permission}.`,
      });
    }
    const call = {
      principal,
      slug,
      scope: { principal, slug },
      query: route.query === undefined ? {} : parseQuery(route.query, req),
      body: route.body === undefined ? undefined : parseBody(route.body, req),
      params: req.params as Record<string, string>,
      ifMatch: ifMatchOf(req),
      nowMs: clock.now(),
      sight: { cost: permissions.includes('cost:read') },
    };
    res.set('cache-control', 'private, no-store');
    if (route.stream !== undefined) return route.stream(call, req, res);
    if (route.answer === undefined) throw new Error(`${route.method} ${route.path} has no answer`);
    const { answer } = route;
    send(route, await shares.run(principal.userId, slug, () => answer(controlPlane, call)), res);
  };
}

function send(route: ScopedRoute, answer: ScopedAnswer, res: Response): void {
  switch (answer.kind) {
    case 'missing':
      throw notFound();
    case 'csv':
      res.set('content-disposition', `attachment; filename="${answer.name}"`).type('text/csv').send(answer.text);
      return;
    case 'conflict': {
      const problem = {
        type: 'about:blank',
        title: 'Changed in the meantime',
        status: 412,
        detail: 'Somebody else has saved since you began. Compare both versions, merge and save again.',
        request_id: requestIdOf(res),
        ...(answer.view as object),
      };
      if (answer.etag !== undefined) res.set('etag', answer.etag);
      res
        .status(412)
        .type('application/problem+json')
        .send(JSON.stringify(route.conflict === undefined ? problem : route.conflict.parse(problem)));
      return;
    }
    case 'view':
      if (answer.etag !== undefined) res.set('etag', answer.etag);
      res.status(route.status ?? 200);
      if (route.view === undefined) res.end();
      else res.json(route.view.parse(answer.view));
  }
}

/** One version, as `ETag` gave it; anything else is passed on as it is for the control plane to refuse. */
function ifMatchOf(req: Request): string | undefined {
  const header = req.headers['if-match'];
  return typeof header === 'string' && header.length <= 40 ? header : undefined;
}
