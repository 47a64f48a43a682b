import { z } from 'zod';
import { ProblemError } from '@sluice/service-kit';
import type { RouteCall } from './route.ts';

/** A chaos action that runs until `ends_at`. */
export const Running = z.object({ id: z.string(), kind: z.string(), target: z.string(), ends_at: z.string() });

/** Audits a chaos action with its request. */
export type RecordChaos = (
  call: RouteCall<unknown, unknown>,
  type: string,
  target: { kind: string; id: string },
) => Promise<void>;

export function unknownField(path: string, message: string): ProblemError {
  return new ProblemError(400, 'The request body is not valid', { errors: [{ path, message }] });
}
