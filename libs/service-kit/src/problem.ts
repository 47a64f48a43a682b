import type { Request } from 'express';
import type { z } from 'zod';
import { storableFault } from '@sluice/contracts';

export interface FieldFault {
  path: string;
  message: string;
}

export interface ProblemExtra {
  /** What a person can do about it; public. */
  detail?: string;
  errors?: FieldFault[];
  /**
   * Name of the kind of problem, for programs; the answer's `type` is `urn:sluice:problem:<name>`. `about:blank`
   * when absent.
   */
  type?: string;
  /**
   * Of a row that somebody else has changed: the version that the caller has seen, and the one that is current
   * (null: gone).
   */
  versions?: { yours: number; current: number | null };
  headers?: Record<string, string>;
  cause?: unknown;
}

/** Thrown by a route to answer with an RFC 9457 problem. Everything in it is public, except `cause`. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly status: number;
  readonly detail: string | undefined;
  readonly errors: FieldFault[] | undefined;
  readonly headers: Record<string, string>;
  readonly type: string | undefined;
  readonly versions: { yours: number; current: number | null } | undefined;

  constructor(status: number, title: string, extra: ProblemExtra = {}) {
    super(title, extra.cause === undefined ? undefined : { cause: extra.cause });
    this.status = status;
    this.detail = extra.detail;
    this.errors = extra.errors;
    this.type = extra.type;
    this.versions = extra.versions;
    this.headers = extra.headers ?? {};
  }
}

/** Field faults of a failed parse, with paths such as `limits.quotas.0.meter`; the root is the empty path. */
export function fieldFaults(error: z.ZodError): FieldFault[] {
  return error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }));
}

/**
 * The request's JSON body as the schema's type.
 *
 * @throws ProblemError 400 with one entry of `errors` per field.
 */
export function parseBody<S extends z.ZodType>(schema: S, req: Pick<Request, 'body'>): z.output<S> {
  if (req.body === undefined) {
    throw new ProblemError(400, 'The request has no JSON body', {
      detail: 'Send a JSON body with content-type application/json.',
    });
  }
  return parseAs(schema, req.body, 'The request body is not valid');
}

/**
 * The request's query as the schema's type.
 *
 * @throws ProblemError 400 with one entry of `errors` per parameter.
 */
export function parseQuery<S extends z.ZodType>(schema: S, req: Pick<Request, 'query'>): z.output<S> {
  return parseAs(schema, req.query, 'The query is not valid');
}

/** A document as the schema's type, or what is wrong with it: first what no store can hold, then what the schema says. */
export function parseStorable<S extends z.ZodType>(
  schema: S,
  value: unknown,
): { readonly success: true; readonly data: z.output<S> } | { readonly success: false; readonly faults: FieldFault[] } {
  const fault = storableFault(value);
  if (fault !== undefined) return { success: false, faults: [{ path: fault.path.join('.'), message: fault.message }] };
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed : { success: false, faults: fieldFaults(parsed.error) };
}

function parseAs<S extends z.ZodType>(schema: S, value: unknown, title: string): z.output<S> {
  const parsed = parseStorable(schema, value);
  if (parsed.success) return parsed.data;
  throw new ProblemError(400, title, { errors: parsed.faults });
}
