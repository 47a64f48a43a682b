import type { FieldFault } from '@sluice/service-kit';

/** What a handler answers: a good body, or a problem (RFC 9457). Refusals are values. */
export type Reply<T> = { readonly status: 200 | 201 | 202; readonly body: T } | ProblemReply;

export interface ProblemReply {
  readonly status: 400 | 401 | 403 | 404 | 409 | 410 | 422 | 503;
  readonly title: string;
  readonly detail?: string | undefined;
  readonly errors?: readonly FieldFault[] | undefined;
}

export const isProblem = <T>(reply: Reply<T>): reply is ProblemReply => 'title' in reply;

/** The same for what does not exist and what belongs to another. */
export const NOT_FOUND: ProblemReply = { status: 404, title: 'Not found' };

export const notReady = (detail: string): ProblemReply => ({ status: 503, title: 'The router is not ready', detail });
