import type { Request } from 'express';
import { ProblemError } from '@sluice/service-kit';

/**
 * The row version of `If-Match: "7"`; undefined when the header is absent.
 *
 * @throws ProblemError 400 for anything that is not one version.
 */
export function readIfMatch(req: Request): number | undefined {
  const header = req.get('if-match');
  if (header === undefined) return undefined;
  const match = /^(?:W\/)?"?(\d{1,15})"?$/.exec(header.trim());
  if (match?.[1] === undefined) throw new ProblemError(400, 'If-Match must hold the one version that ETag gave');
  return Number(match[1]);
}

/** A row version as an entity tag. */
export const etagOf = (version: number): string => `"${version}"`;
