import { z } from 'zod';
import { SessionRequest, type AuditEvent, type Clock } from '@sluice/contracts';
import { bearerToken, ProblemError } from '@sluice/service-kit';
import {
  clearSessionCookie,
  readDeviceCookie,
  readSessionCookie,
  setDeviceCookie,
  setSessionCookie,
} from '../http/cookies.ts';
import { createRefusedSignIns } from '../audit/refused-sign-ins.ts';
import type { AuditInput } from '../config/config-repository.ts';
import { SESSION_TTL_MS, type OperatorSessions } from '../session/operator-sessions.ts';
import type { OperatorSignIn } from '../session/operator-sign-in.ts';
import { actorOf, addressOf } from './actor.ts';
import type { AuditTrail } from './ports.ts';
import { route, type Route } from './route.ts';

const SessionView = z.object({ kind: z.literal('operator'), user: z.string(), role: z.string() });

const TARGET = { kind: 'session', id: 'control-plane' };

export interface SessionRouteDeps {
  readonly sessions: OperatorSessions;
  readonly signIn: OperatorSignIn;
  readonly audit: AuditTrail;
  readonly clock: Pick<Clock, 'now'>;
  /** Signing in works without the database, so a record that cannot be written is only reported here. */
  readonly onAuditError: (error: unknown) => void;
}

/** Sign-in of operators. */
export function sessionRoutes({ sessions, signIn, audit, clock, onAuditError }: SessionRouteDeps): Route[] {
  const record = (input: AuditInput): void => void audit.record(input).catch(onAuditError);
  const note = (type: string, actor: AuditEvent['actor']): void => {
    record({ type, actor, target: TARGET });
  };
  const refused = createRefusedSignIns({ clock, record });
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
          operator = await signIn.verify(name, body.password, { ...addressOf(req), device: readDeviceCookie(req) });
        } catch (error) {
          // Who is refused a turn leaves no record, and the others a bounded number: guessing cannot fill the audit log.
          if (error instanceof ProblemError && error.status === 401)
            refused({
              type: 'session.refused',
              target: TARGET,
              actor: { kind: 'anonymous', id: 'unknown', ...addressOf(req) },
            });
          throw error;
        }
        const token = await sessions.open(operator);
        note('session.started', { kind: 'operator', id: operator.user, ...addressOf(req) });
        const view = { kind: 'operator' as const, ...operator };
        if (body.bearer === true) return { ...view, token };
        setSessionCookie(res, token, SESSION_TTL_MS);
        setDeviceCookie(res, signIn.deviceToken(operator));
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
