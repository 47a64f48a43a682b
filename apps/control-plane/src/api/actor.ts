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

/** The peer's address as audit records hold it. */
export function addressOf(req: Request): { address?: string } {
  return req.socket.remoteAddress === undefined ? {} : { address: req.socket.remoteAddress };
}

/** A path parameter that the route's path declares. */
export function param(call: RouteCall<unknown, unknown>, name: string): string {
  const value = call.params[name];
  if (value === undefined) throw new ProblemError(404, 'Not found');
  return value;
}
