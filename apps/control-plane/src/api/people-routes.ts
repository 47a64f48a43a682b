import { PersonSessionRequest, PersonSessionResponse, type Clock } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import { createRefusedSignIns } from '../audit/refused-sign-ins.ts';
import type { AuditInput } from '../config/config-repository.ts';
import type { People } from '../session/people.ts';
import { actorOf } from './actor.ts';
import type { AuditTrail } from './ports.ts';
import { route, type Route } from './route.ts';

const TARGET = { kind: 'session', id: 'tenant-console' };

/** Sign-in and sign-out of people, asked by the BFF, which holds their sessions. A record that cannot be written is only reported. */
export function peopleRoutes(deps: { people: People; audit: AuditTrail; clock: Pick<Clock, 'now'>; onAuditError: (error: unknown) => void }): Route[] {
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
          const principal = await deps.people.verify(body.email, body.password);
          record({ type: 'session.started', actor: { kind: 'person', id: principal.userId, ...address }, target: TARGET });
          return principal;
        } catch (error) {
          // Neither the address that was tried nor the password: people type one into the field of the other.
          if (error instanceof ProblemError && error.status === 401) refused({ type: 'session.refused', actor: { kind: 'anonymous', id: 'unknown', ...address }, target: TARGET });
          throw error;
        }
      },
    }),
    route({
      method: 'post',
      path: '/internal/people/session/now',
      auth: 'person',
      tag: 'Internal',
      summary: 'The person as they are now; 404 once the account is gone',
      response: PersonSessionResponse,
      handler: async ({ principal }) => {
        const now = principal === undefined ? undefined : await deps.people.now(principal.userId);
        if (now === undefined) throw new ProblemError(404, 'Not found');
        return now;
      },
    }),
    route({
      method: 'post',
      path: '/internal/people/session/ended',
      auth: 'person',
      tag: 'Internal',
      summary: 'A person has signed out',
      status: 204,
      handler: (call) => record({ type: 'session.ended', actor: { kind: 'person', id: actorOf(call).id }, target: TARGET }),
    }),
  ];
}
