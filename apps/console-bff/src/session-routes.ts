import type { Express, Request } from 'express';
import {
  AcceptInvitationRequest,
  ChangePasswordRequest,
  OwnInvitationsView,
  SessionRequest,
  SessionsView,
  SessionView,
  TakeOwnInvitationRequest,
} from '@sluice/contracts';
import { parseBody, ProblemError, type ApiRoute } from '@sluice/service-kit';
import { z } from 'zod';
import type { ControlPlane, From } from './control-plane.ts';
import type { SessionOf } from './principal-of.ts';
import { notFound } from './scope.ts';
import { clearSessionCookie, deviceOf, sessionTokenOf, setDeviceCookie, setSessionCookie } from './session-cookie.ts';
import { SESSION_TTL_MS, type Sessions } from './sessions.ts';
import { projectSession } from './views/people-view.ts';

const Ended = z.strictObject({ ended: z.int().min(0) });

/** Routes of the person alone, of no workspace. */
export const SESSION_ROUTES: readonly ApiRoute[] = [
  {
    method: 'post',
    path: '/api/session',
    summary: 'Signs in; sets the cookie, or answers a token when `bearer` is asked',
    auth: 'none',
    body: SessionRequest,
    response: SessionView,
  },
  {
    method: 'get',
    path: '/api/session',
    summary: 'Who is signed in, with roles and permissions',
    auth: 'session',
    response: SessionView,
  },
  { method: 'delete', path: '/api/session', summary: 'Signs out', auth: 'session', status: 204 },
  {
    method: 'get',
    path: '/api/sessions',
    summary: 'The own sessions, newest first',
    auth: 'session',
    response: SessionsView,
  },
  {
    method: 'delete',
    path: '/api/sessions',
    summary: 'Ends every own session but this one',
    auth: 'session',
    response: Ended,
  },
  {
    method: 'delete',
    path: '/api/sessions/:sessionId',
    summary: 'Ends one of the own sessions',
    auth: 'session',
    status: 204,
  },
  {
    method: 'post',
    path: '/api/password',
    summary: 'Changes the own password and ends every own session, this one too',
    auth: 'session',
    body: ChangePasswordRequest,
    status: 204,
  },
  {
    method: 'post',
    path: '/api/invitations',
    summary: 'Takes an invitation to a workspace',
    auth: 'none',
    body: AcceptInvitationRequest,
    status: 204,
  },
  {
    method: 'get',
    path: '/api/invitations',
    summary: 'The own invitations to workspaces that are open',
    auth: 'session',
    response: OwnInvitationsView,
  },
  {
    method: 'post',
    path: '/api/invitations/:invitationId',
    summary: 'Takes an own invitation, by the code that came with it',
    auth: 'session',
    body: TakeOwnInvitationRequest,
    status: 204,
  },
  {
    method: 'delete',
    path: '/api/invitations/:invitationId',
    summary: 'Declines an own invitation',
    auth: 'session',
    status: 204,
  },
];

/** Who tries a password. The control plane believes the address because it comes with our token. */
const fromOf = (req: Request): From => ({ address: req.ip, device: deviceOf(req) });

export function addSessionRoutes(
  app: Express,
  { sessions, controlPlane, sessionOf }: { sessions: Sessions; controlPlane: ControlPlane; sessionOf: SessionOf },
): void {
  app.post('/api/session', async (req, res) => {
    const body = parseBody(SessionRequest, req);
    const signedIn = await controlPlane.signIn(body.email ?? body.user ?? '', body.password, fromOf(req));
    if (signedIn === undefined) throw new ProblemError(401, 'E-mail address or password is wrong');
    const { principal, device } = signedIn;
    const previous = sessionTokenOf(req);
    const replaced = previous === undefined ? undefined : await sessions.find(previous);
    if (replaced !== undefined) await sessions.end(replaced);
    const token = await sessions.open(principal, {
      address: req.ip,
      agent: req.headers['user-agent'],
    });
    const view = projectSession(principal);
    if (body.bearer === true) {
      res.json(SessionView.parse({ ...view, token }));
      return;
    }
    setSessionCookie(req, res, token, SESSION_TTL_MS);
    if (device !== undefined) setDeviceCookie(req, res, device);
    res.json(SessionView.parse(view));
  });

  app.get('/api/session', async (req, res) => {
    res.json(SessionView.parse(projectSession((await sessionOf(req)).principal)));
  });

  app.delete('/api/session', async (req, res) => {
    const token = sessionTokenOf(req);
    const session = token === undefined ? undefined : await sessions.find(token);
    if (session !== undefined) await sessions.end(session);
    clearSessionCookie(res);
    res.status(204).end();
  });

  app.get('/api/sessions', async (req, res) => {
    const { principal, session } = await sessionOf(req);
    const rows = (await sessions.list(principal)).map(
      ({ session_id, created_at, last_used_at, expires_at, address, agent }) => ({
        session_id,
        created_at,
        last_used_at,
        expires_at,
        address,
        agent,
        current: session_id === session.session_id,
      }),
    );
    res.json(SessionsView.parse({ rows }));
  });

  app.delete('/api/sessions', async (req, res) => {
    res.json(Ended.parse({ ended: await sessions.endOthers(await sessionOf(req)) }));
  });

  app.delete('/api/sessions/:sessionId', async (req, res) => {
    if (!(await sessions.endById((await sessionOf(req)).principal, req.params.sessionId))) throw notFound();
    res.status(204).end();
  });

  app.post('/api/password', async (req, res) => {
    const { principal } = await sessionOf(req);
    await controlPlane.changePassword(principal, parseBody(ChangePasswordRequest, req));
    sessions.forget(principal.userId);
    clearSessionCookie(res);
    res.status(204).end();
  });

  app.post('/api/invitations', async (req, res) => {
    await controlPlane.acceptInvitation(parseBody(AcceptInvitationRequest, req), fromOf(req));
    res.status(204).end();
  });

  app.get('/api/invitations', async (req, res) => {
    const { rows } = await controlPlane.invitationsOf((await sessionOf(req)).principal);
    const shown = rows.map(({ invitation_id, workspace, role, expires_at }) => ({
      invitation_id,
      workspace,
      role,
      expires_at,
    }));
    res.json(OwnInvitationsView.parse({ rows: shown }));
  });

  app.post('/api/invitations/:invitationId', async (req, res) => {
    const { principal } = await sessionOf(req);
    const request = parseBody(TakeOwnInvitationRequest, req);
    if (!(await controlPlane.takeInvitation(principal, req.params.invitationId, request))) throw notFound();
    // The next call asks for the roles anew.
    sessions.forget(principal.userId);
    res.status(204).end();
  });

  app.delete('/api/invitations/:invitationId', async (req, res) => {
    const { principal } = await sessionOf(req);
    if (!(await controlPlane.declineInvitation(principal, req.params.invitationId))) throw notFound();
    res.status(204).end();
  });
}
