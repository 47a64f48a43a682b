import type { Request } from 'express';
import type { Clock, Principal } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { ControlPlane } from './control-plane.ts';
import { sessionTokenOf } from './session-cookie.ts';
import type { Sessions } from './sessions.ts';

/** A role that was taken away is gone from a session at most so much later. */
export const ROLES_CHECKED_EVERY_MS = 10_000;

/** Gives the signed-in person of a request, or throws 401. */
export type PrincipalOf = (req: Request) => Promise<Principal>;

/**
 * The person of a session, with roles that are at most ten seconds old. While the control plane does not answer the roles that are known stand: there
 * is nothing to be read without it.
 */
export function createPrincipalOf({ sessions, controlPlane, clock }: { sessions: Sessions; controlPlane: Pick<ControlPlane, 'now'>; clock: Pick<Clock, 'now'> }): PrincipalOf {
  const asking = new Map<string, Promise<Principal | undefined>>();

  async function ask(token: string, known: Principal): Promise<Principal | undefined> {
    try {
      const now = await controlPlane.now(known);
      if (now === undefined) sessions.end(token);
      else sessions.refresh(token, now);
      return now;
    } catch {
      sessions.refresh(token, known);
      return known;
    } finally {
      asking.delete(token);
    }
  }

  return async (req) => {
    const token = sessionTokenOf(req);
    const session = token === undefined ? undefined : sessions.find(token);
    if (token === undefined || session === undefined) throw signInFirst();
    if (clock.now() - session.checkedMs < ROLES_CHECKED_EVERY_MS) return session.principal;
    const question = asking.get(token) ?? ask(token, session.principal);
    asking.set(token, question);
    const principal = await question;
    // A session that was revoked while the question was on its way is over.
    if (principal === undefined || sessions.find(token) === undefined) throw signInFirst();
    return principal;
  };
}

const signInFirst = (): ProblemError => new ProblemError(401, 'Sign in first', { headers: { 'www-authenticate': 'Bearer' } });
