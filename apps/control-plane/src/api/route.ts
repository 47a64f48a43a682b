import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { OperatorRole, Principal } from '@sluice/contracts';
import type { Operator } from '../session/operator-sessions.ts';

/**
 * Who may call a route: anybody; a signed-in operator whose role is at least `viewer` (reads), `operator` (acts in
 * an incident: chaos, dead letters, kill switches, keys) or `admin` (changes configuration, money and accounts); a
 * gateway or the router by its token; the BFF by its token; or the BFF in the name of a person whose principal it
 * has signed.
 */
export type RouteAuth = 'none' | OperatorRole | 'gateway' | 'router' | 'bff' | 'person';

export type HttpMethod = 'get' | 'post' | 'put' | 'delete';

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;

/** What a handler is given: parsed input and the caller that was let in. */
export interface RouteCall<Body, Query> {
  readonly req: Request;
  readonly res: Response;
  readonly params: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly query: Query;
  /** Set on routes for operators. */
  readonly operator: Operator | undefined;
  /** Set on routes for persons. */
  readonly principal: Principal | undefined;
}

interface RouteBase {
  readonly method: HttpMethod;
  /** Express path; `:name` is a parameter. */
  readonly path: string;
  readonly auth: RouteAuth;
  readonly tag: string;
  readonly summary: string;
  /** Status of the good answer; 200 when absent, 204 has no body. */
  readonly status?: number;
  /** Largest JSON body, bytes; 256 KiB when absent. */
  readonly maxBodyBytes?: number;
  /** Whether a change of what exists needs `If-Match`; absent where there is nothing to match. */
  readonly precondition?: 'required' | 'optional';
  /** The handler writes the answer itself (server-sent events). */
  readonly streams?: true;
  readonly response?: z.ZodType;
}

export interface RouteSpec<B, Q> extends RouteBase {
  readonly body?: B;
  readonly query?: Q;
  readonly handler: (call: RouteCall<Parsed<B>, Parsed<Q>>) => unknown;
}

/** A route as the table holds it, its own input types forgotten. */
export interface Route extends RouteBase {
  readonly body?: z.ZodType | undefined;
  readonly query?: z.ZodType | undefined;
  readonly handler: (call: RouteCall<unknown, unknown>) => unknown;
}

/** Declares one route; the handler's `body` and `query` have the types of the schemas, which the router has applied. */
export function route<B extends z.ZodType | undefined = undefined, Q extends z.ZodType | undefined = undefined>(
  spec: RouteSpec<B, Q>,
): Route {
  return { ...spec, handler: (call) => spec.handler(call as RouteCall<Parsed<B>, Parsed<Q>>) };
}
