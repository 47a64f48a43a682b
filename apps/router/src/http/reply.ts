import type { FieldFault } from '@sluice/service-kit';

/** What a handler answers: a good body, or a problem (RFC 9457). Refusals are values. */
export type Reply<T> = { readonly status: 200 | 201 | 202; readonly body: T } | ProblemReply;

export interface ProblemReply {
  readonly status: 400 | 401 | 403 | 404 | 409 | 410 | 422 | 429 | 503;
  readonly title: string;
  readonly detail?: string | undefined;
  readonly errors?: readonly FieldFault[] | undefined;
  /** Of a 429, at least 1. */
  readonly retryAfterS?: number | undefined;
}

export const isProblem = <T>(reply: Reply<T>): reply is ProblemReply => 'title' in reply;

/** The same for what does not exist and what belongs to another. */
export const NOT_FOUND: ProblemReply = { status: 404, title: 'Not found' };

/** A tenant asks more than its share. */
export function tooMuch(waitMs: number): ProblemReply {
  const retryAfterS = Math.max(1, Math.ceil(waitMs / 1000));
  return {
    status: 429,
    title: 'Too many requests',
    detail: `Your organization asks more than its share of the router. Try again in ${retryAfterS} s.`,
    retryAfterS,
  };
}

export const notReady = (detail: string): ProblemReply => ({ status: 503, title: 'The router is not ready', detail });
