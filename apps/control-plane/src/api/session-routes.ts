import { z } from 'zod';
import { SessionRequest, type AuditEvent } from '@sluice/contracts';
import { bearerToken, ProblemError } from '@sluice/service-kit';
import { clearSessionCookie, readSessionCookie, setSessionCookie } from '../http/cookies.ts';
import { SESSION_TTL_MS, type OperatorSessions } from '../session/operator-sessions.ts';
import type { OperatorSignIn } from '../session/operator-sign-in.ts';
import { actorOf, addressOf } from './actor.ts';
import type { AuditTrail } from './ports.ts';
import { route, type Route } from './route.ts';

const SessionView = z.object({ kind: z.literal('operator'), user: z.string(), role: z.string() });

export interface SessionRouteDeps {
  readonly sessions: OperatorSessions;
  readonly signIn: OperatorSignIn;
  readonly audit: AuditTrail;
  /** Signing in works without the database, so a record that cannot be written is only reported here. */
  readonly onAuditError: (error: unknown) => void;
}

/** Sign-in of operators. */
export function sessionRoutes({ sessions, signIn, audit, onAuditError }: SessionRouteDeps): Route[] {
  const note = (type: string, actor: AuditEvent['actor']): void => {
    audit.record({ type, actor, target: { kind: 'session', id: 'control-plane' } }).catch(onAuditError);
  };
  return [
    route({
      method: 'post',
      path: '/api/session',
      auth: 'none',
      tag: 'Session',
      summary: 'Sign in; sets the cookie, and answers a token when `bearer` is asked',
      body: SessionRequest,
      maxBodyBytes: 8 * 1024,
      response: SessionView.extend({ token: z.string().optional() }),
      handler: async ({ req, res, body }) => {
        const name = body.user ?? body.email ?? '';
        let operator;
        try {
          operator = await signIn.verify(name, body.password);
        } catch (error) {
          // While an account is locked nothing is recorded, so that guessing cannot fill the audit log.
          if (error instanceof ProblemError && error.status === 401)
            note('session.refused', { kind: 'anonymous', id: 'unknown', ...addressOf(req) });
          throw error;
        }
        const token = await sessions.open(operator);
        note('session.started', { kind: 'operator', id: operator.user, ...addressOf(req) });
        const view = { kind: 'operator' as const, ...operator };
        if (body.bearer === true) return { ...view, token };
        setSessionCookie(res, token, SESSION_TTL_MS);
        return view;
      },
    }),
    route({
      method: 'get',
      path: '/api/session',
      auth: 'viewer',
      tag: 'Session',
      summary: 'Who is signed in',
      response: SessionView,
      handler: ({ operator }) => ({ kind: 'operator', ...operator }),
    }),
    route({
      method: 'delete',
      path: '/api/session',
      auth: 'viewer',
      tag: 'Session',
      summary: 'Sign out',
      status: 204,
      handler: async (call) => {
        const token = bearerToken(call.req.headers.authorization) ?? readSessionCookie(call.req);
        if (token !== undefined) await sessions.end(token);
        note('session.ended', actorOf(call));
        clearSessionCookie(call.res);
      },
    }),
  ];
}
