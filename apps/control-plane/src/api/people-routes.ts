import {
  ChangePasswordRequest,
  EndedSessions,
  OpenedSession,
  OwnSessions,
  PersonSessionRequest,
  PersonSessionResponse,
  SeenSession,
  SeenSessionResponse,
  type Clock,
  type Principal,
} from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import { createRefusedSignIns } from '../audit/refused-sign-ins.ts';
import type { AuditInput } from '../config/config-repository.ts';
import { changeOwnPassword, type OwnPasswordDeps } from '../session/own-password.ts';
import type { People } from '../session/people.ts';
import type { PersonSessions } from '../session/person-sessions.ts';
import { actorOf } from './actor.ts';
import type { AuditTrail } from './ports.ts';
import { route, type Route } from './route.ts';

const TARGET = { kind: 'session', id: 'tenant-console' };

/**
 * Sign-in, sessions and sign-out of people, asked by the console's backends, which alone know the tokens. A record
 * that cannot be written is only reported.
 */
export function peopleRoutes(
  deps: OwnPasswordDeps & {
    people: People;
    personSessions: PersonSessions;
    audit: AuditTrail;
    clock: Pick<Clock, 'now'>;
    onAuditError: (error: unknown) => void;
  },
): Route[] {
  const record = (input: AuditInput): void => void deps.audit.record(input).catch(deps.onAuditError);
  const refused = createRefusedSignIns({ clock: deps.clock, record });
  return [
    route({
      method: 'post',
      path: '/internal/people/session',
      auth: 'bff',
      tag: 'Internal',
      summary: "Verify a person's e-mail address and password",
      body: PersonSessionRequest,
      response: PersonSessionResponse,
      handler: async ({ body }) => {
        const address = body.address === undefined ? {} : { address: body.address };
        try {
          const principal = await deps.people.verify(body.email, body.password, { ...address, device: body.device });
          record({
            type: 'session.started',
            actor: { kind: 'person', id: principal.userId, ...address },
            target: TARGET,
          });
          return { ...principal, device: deps.people.deviceToken(principal) };
        } catch (error) {
          // Neither the address that was tried nor the password: people type one into the field of the other.
          if (error instanceof ProblemError && error.status === 401)
            refused({
              type: 'session.refused',
              actor: { kind: 'anonymous', id: 'unknown', ...address },
              target: TARGET,
            });
          throw error;
        }
      },
    }),
    route({
      method: 'post',
      path: '/internal/people/sessions',
      auth: 'bff',
      tag: 'Internal',
      summary: 'Keep a session that was opened',
      body: OpenedSession,
      status: 204,
      handler: ({ body }) => deps.personSessions.open(body),
    }),
    route({
      method: 'post',
      path: '/internal/people/sessions/seen',
      auth: 'bff',
      tag: 'Internal',
      summary: 'A session is used: it and its person as they are now; 404 once either is gone',
      body: SeenSession,
      response: SeenSessionResponse,
      handler: async ({ body }) => {
        const session = await deps.personSessions.seen(body.token_digest);
        const principal = session === undefined ? undefined : await deps.people.now(session.user_id);
        if (session !== undefined && principal === undefined) await deps.personSessions.endOf(session.user_id);
        if (session === undefined || principal === undefined) throw new ProblemError(404, 'Not found');
        return { session, principal };
      },
    }),
    route({
      method: 'get',
      path: '/internal/people/sessions',
      auth: 'person',
      tag: 'Internal',
      summary: "A person's own sessions, newest first",
      response: OwnSessions,
      handler: async ({ principal }) => ({ rows: await deps.personSessions.of((principal as Principal).userId) }),
    }),
    route({
      method: 'post',
      path: '/internal/people/sessions/ended',
      auth: 'person',
      tag: 'Internal',
      summary: 'A person ends own sessions',
      body: EndedSessions,
      status: 204,
      handler: async (call) => {
        const { id } = actorOf(call);
        const ended = await deps.personSessions.end(id, call.body.token_digests);
        if (ended > 0)
          record({ type: 'session.ended', actor: { kind: 'person', id }, target: TARGET, after: { sessions: ended } });
      },
    }),
    route({
      method: 'post',
      path: '/internal/people/password',
      auth: 'person',
      tag: 'Internal',
      summary: 'A person changes the own password, which ends all of their sessions',
      body: ChangePasswordRequest,
      status: 204,
      handler: (call) => changeOwnPassword(deps, call.principal as Principal, call.body, actorOf(call)),
    }),
  ];
}
