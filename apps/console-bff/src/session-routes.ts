import type { Express, Request } from 'express';
import { SessionRequest, SessionView, type Principal } from '@sluice/contracts';
import { parseBody, ProblemError, type ApiRoute } from '@sluice/service-kit';
import type { ControlPlane } from './control-plane.ts';
import { projectSession } from './projections.ts';
import { clearSessionCookie, sessionTokenOf, setSessionCookie } from './session-cookie.ts';
import { SESSION_TTL_MS, type Sessions } from './sessions.ts';

export const SESSION_ROUTES: readonly ApiRoute[] = [
  { method: 'post', path: '/api/session', summary: 'Signs in; sets the cookie, or answers a token when `bearer` is asked', auth: 'none', body: SessionRequest, response: SessionView },
  { method: 'get', path: '/api/session', summary: 'Who is signed in, with roles and permissions', auth: 'session', response: SessionView },
  { method: 'delete', path: '/api/session', summary: 'Signs out', auth: 'session', status: 204 },
];

/** Gives the signed-in person of a request, or throws 401. */
export function createPrincipalOf(sessions: Sessions): (req: Request) => Principal {
  return (req) => {
    const token = sessionTokenOf(req);
    const principal = token === undefined ? undefined : sessions.find(token);
    if (principal === undefined) throw new ProblemError(401, 'Sign in first', { headers: { 'www-authenticate': 'Bearer' } });
    return principal;
  };
}

export function addSessionRoutes(app: Express, { sessions, controlPlane }: { sessions: Sessions; controlPlane: ControlPlane }): void {
  const principalOf = createPrincipalOf(sessions);

  app.post('/api/session', async (req, res) => {
    const body = parseBody(SessionRequest, req);
    const principal = await controlPlane.signIn(body.email ?? body.user ?? '', body.password, req.socket.remoteAddress);
    if (principal === undefined) throw new ProblemError(401, 'E-mail address or password is wrong');
    const previous = sessionTokenOf(req);
    if (previous !== undefined) sessions.end(previous);
    const token = sessions.open(principal);
    const view = projectSession(principal);
    if (body.bearer === true) {
      res.json(SessionView.parse({ ...view, token }));
      return;
    }
    setSessionCookie(res, token, SESSION_TTL_MS);
    res.json(SessionView.parse(view));
  });

  app.get('/api/session', (req, res) => {
    res.json(SessionView.parse(projectSession(principalOf(req))));
  });

  app.delete('/api/session', (req, res) => {
    const token = sessionTokenOf(req);
    const principal = token === undefined ? undefined : sessions.find(token);
    if (token !== undefined) sessions.end(token);
    if (principal !== undefined) void controlPlane.signedOut(principal);
    clearSessionCookie(res);
    res.status(204).end();
  });
}
