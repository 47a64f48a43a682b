import type { Request } from 'express';
import { PRINCIPAL_HEADER, type Clock, type OperatorRole, type Principal } from '@sluice/contracts';
import { bearerToken, ProblemError, safeEqual, verifyPrincipal } from '@sluice/service-kit';
import { readSessionCookie } from '../http/cookies.ts';
import type { Operator, OperatorSessions } from '../session/operator-sessions.ts';
import type { RouteAuth } from './route.ts';

export interface Caller {
  readonly operator?: Operator;
  readonly principal?: Principal;
}

export interface AuthenticateDeps {
  readonly sessions: OperatorSessions;
  readonly gatewayToken: string;
  readonly bffToken: string;
  /** Undefined lets no router in. */
  readonly routerToken: string | undefined;
  /** Signs principals; shared with the BFF. */
  readonly principalKey: string;
  readonly clock: Clock;
}

/** Lets a caller in by what the route demands. */
export type Authenticate = (auth: RouteAuth, req: Request) => Promise<Caller>;

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * @throws ProblemError 401 without the credential that the route demands, 403 for a cookie without a matching
 * Origin or a role that is too low.
 */
export function createAuthenticate(deps: AuthenticateDeps): Authenticate {
  return async (auth, req) => {
    switch (auth) {
      case 'none':
        return {};
      case 'viewer':
      case 'operator':
      case 'admin':
        return { operator: requireRole(await findOperator(deps.sessions, req), auth) };
      case 'gateway':
        requireToken(req, deps.gatewayToken);
        return {};
      case 'router':
        requireToken(req, deps.routerToken);
        return {};
      case 'bff':
        requireToken(req, deps.bffToken);
        return {};
      case 'person': {
        requireToken(req, deps.bffToken);
        const principal = verifyPrincipal(req.get(PRINCIPAL_HEADER), deps.principalKey, deps.clock);
        if (principal === undefined) throw unauthenticated();
        return { principal };
      }
    }
  };
}

/** The token of an operator's session: `Authorization: Bearer`, else the cookie. */
export function operatorToken(req: Request): string | undefined {
  return bearerToken(req.headers.authorization) ?? readSessionCookie(req);
}

async function findOperator(sessions: OperatorSessions, req: Request): Promise<Operator> {
  const bearer = bearerToken(req.headers.authorization);
  const token = operatorToken(req);
  const operator = token === undefined ? undefined : await sessions.find(token);
  if (operator === undefined) throw unauthenticated();
  // The host guard has checked an Origin that is there; a cookie travels by itself, so here one must be there.
  if (bearer === undefined && !SAFE_METHODS.has(req.method) && req.headers.origin === undefined) {
    throw new ProblemError(403, 'Origin is missing', {
      detail: 'A change with a session cookie needs the Origin header; a script uses a bearer token.',
    });
  }
  return operator;
}

/** Operator roles from the least to the most; each may what those before it may. */
const RANK: Record<OperatorRole, number> = { viewer: 0, operator: 1, admin: 2 };

function requireRole(operator: Operator, least: OperatorRole): Operator {
  if (RANK[operator.role] >= RANK[least]) return operator;
  throw new ProblemError(403, 'Your role does not allow this', {
    type: 'role',
    detail: `It needs the role ${least}; ${operator.user} has the role ${operator.role}.`,
  });
}

function requireToken(req: Request, token: string | undefined): void {
  const given = bearerToken(req.headers.authorization);
  if (given === undefined || token === undefined || !safeEqual(given, token)) throw unauthenticated();
}

const unauthenticated = (): ProblemError =>
  new ProblemError(401, 'Not signed in', { headers: { 'www-authenticate': 'Bearer' } });
