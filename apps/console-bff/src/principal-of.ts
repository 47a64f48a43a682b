import type { Request } from 'express';
import type { Principal } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import { sessionTokenOf } from './session-cookie.ts';
import type { Session, Sessions } from './sessions.ts';

/** Gives the session of a request, or throws 401. */
export type SessionOf = (req: Request) => Promise<Session>;

/** Gives the signed-in person of a request, or throws 401. */
export type PrincipalOf = (req: Request) => Promise<Principal>;

export function createSessionOf(sessions: Pick<Sessions, 'find'>): SessionOf {
  return async (req) => {
    const token = sessionTokenOf(req);
    const session = token === undefined ? undefined : await sessions.find(token);
    if (session === undefined)
      throw new ProblemError(401, 'Sign in first', { headers: { 'www-authenticate': 'Bearer' } });
    return session;
  };
}
