import type { Request } from 'express';
import { ProblemError } from '@sluice/service-kit';

/** What a writer says of the row as it has seen it: one version, any version, none at all, or nothing. */
export type Precondition =
  | { readonly kind: 'version'; readonly version: number }
  | { readonly kind: 'any' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'none' };

/**
 * `If-Match: "7"`, `If-Match: *`, or `If-None-Match: *` (only when it does not exist yet).
 *
 * @throws ProblemError 400 for anything else in these headers.
 */
export function readPrecondition(req: Pick<Request, 'get'>): Precondition {
  const match = req.get('if-match')?.trim();
  const noneMatch = req.get('if-none-match')?.trim();
  if (match !== undefined && noneMatch !== undefined)
    throw new ProblemError(400, 'Give either If-Match or If-None-Match');
  if (noneMatch !== undefined) {
    if (noneMatch !== '*')
      throw new ProblemError(400, 'If-None-Match must be *, which means: only when it does not exist yet');
    return { kind: 'absent' };
  }
  if (match === undefined) return { kind: 'none' };
  if (match === '*') return { kind: 'any' };
  const version = /^(?:W\/)?"?(\d{1,15})"?$/.exec(match)?.[1];
  if (version === undefined) throw new ProblemError(400, 'If-Match must hold the one version that ETag gave, or *');
  return { kind: 'version', version: Number(version) };
}

/**
 * The version that a write asks for, of a row that is now at `current` (undefined: there is none). Without a header
 * only a new row may be written, unless the route lets the last writer win.
 *
 * @throws ProblemError 428 for a change of an existing row without `If-Match`.
 */
export function expectedVersion(
  given: Precondition,
  current: number | undefined,
  lastWriterWins = false,
): number | 'absent' | undefined {
  switch (given.kind) {
    case 'version':
      return given.version;
    case 'absent':
      return 'absent';
    case 'any':
      if (current === undefined)
        throw new ProblemError(412, 'It does not exist', { type: 'stale', detail: 'If-Match: * changes what exists.' });
      return undefined;
    case 'none':
      if (lastWriterWins) return undefined;
      if (current === undefined) return 'absent';
      throw new ProblemError(428, 'If-Match is missing', {
        type: 'precondition-required',
        detail: `It exists already, at version ${current}. Read it, then repeat the change with If-Match: "${current}", so that it cannot undo what somebody else has changed.`,
        headers: { etag: etagOf(current) },
      });
  }
}

/** A row version as an entity tag. */
export const etagOf = (version: number): string => `"${version}"`;
