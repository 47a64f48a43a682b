import type { Request } from 'express';
import type { AuditEvent } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { RouteCall } from './route.ts';

/** Who did it, for the audit log. */
export function actorOf(call: RouteCall<unknown, unknown>): AuditEvent['actor'] {
  const address = addressOf(call.req);
  if (call.operator !== undefined) return { kind: 'operator', id: call.operator.user, ...address };
  if (call.principal !== undefined) return { kind: 'person', id: call.principal.userId, ...address };
  return { kind: 'anonymous', id: 'unknown', ...address };
}

/** The client's address, as the nearest trusted proxy saw it; that of the peer without one. */
export function addressOf(req: Request): { address?: string } {
  return req.ip === undefined ? {} : { address: req.ip };
}

/** A path parameter that the route's path declares. */
export function param(call: RouteCall<unknown, unknown>, name: string): string {
  const value = call.params[name];
  if (value === undefined) throw new ProblemError(404, 'Not found');
  return value;
}
