import { ProblemError } from '@sluice/service-kit';
import { expectedVersion, readPrecondition } from './if-match.ts';
import type { RouteCall } from './route.ts';

/**
 * The version of an account that is there and that a change asks for.
 * @throws ProblemError 412 or 428 by `If-Match`.
 */
export function requireVersion(call: RouteCall<unknown, unknown>, current: number): number {
  const expected = expectedVersion(readPrecondition(call.req), current);
  if (expected === 'absent') throw new ProblemError(412, 'It exists already', { type: 'stale' });
  if (expected !== undefined && expected !== current) throw staleAccount(expected, current);
  return current;
}

/** The answer to a change of what somebody else has changed first. */
export function staleAccount(yours: number, current: number | undefined): ProblemError {
  const now = current === undefined ? 'it does not exist any more' : `it is at version ${current}`;
  return new ProblemError(412, 'Changed in the meantime', {
    type: 'stale',
    detail: `You have seen version ${yours}; ${now}. Read it again and repeat the change.`,
    versions: { yours, current: current ?? null },
    ...(current === undefined ? {} : { headers: { etag: `"${current}"` } }),
  });
}
