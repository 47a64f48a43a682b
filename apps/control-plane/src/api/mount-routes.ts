import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import { parseBody, parseQuery } from '@sluice/service-kit';
import { databaseProblem } from '../db/database-problem.ts';
import type { Authenticate, Caller } from './authenticate.ts';
import type { TenantGate } from '../tenant/tenant-gate.ts';
import type { Route } from './route.ts';

/** Largest JSON body of a route that does not say otherwise, bytes. */
export const DEFAULT_BODY_BYTES = 256 * 1024;

/** Told of every answer of a route: by the route's own path, never by what was asked for. */
export type OnAnswer = (route: Pick<Route, 'method' | 'path'>, status: number, seconds: number) => void;

/**
 * Makes Express routes of the table: authenticate by the headers alone, then read the body within its bound, parse,
 * handle, answer. The only place where routes are mounted.
 */
export function mountRoutes(
  app: Express,
  routes: readonly Route[],
  authenticate: Authenticate,
  { onAnswer = () => undefined, gate }: { onAnswer?: OnAnswer | undefined; gate?: TenantGate | undefined } = {},
): void {
  for (const route of routes) {
    app[route.method](
      route.path,
      observed(route, onAnswer),
      letIn(route, authenticate),
      bodyOf(route),
      async (req, res) => {
        const caller = res.locals['caller'] as Caller;
        const call = {
          req,
          res,
          params: pathParams(req),
          body: route.body === undefined ? undefined : parseBody(route.body, req),
          query: route.query === undefined ? undefined : parseQuery(route.query, req),
          operator: caller.operator,
          principal: caller.principal,
        };
        const leave = route.auth === 'person' ? await gate?.(call) : undefined;
        const result = await answered(() => route.handler(call)).finally(leave);
        if (route.streams === true) return;
        if (route.status === 204) res.status(204).end();
        else res.status(route.status ?? 200).json(result);
      },
    );
  }
}

function observed(route: Route, onAnswer: OnAnswer): RequestHandler {
  return (_req, res, next) => {
    const startedAt = performance.now();
    res.once('close', () => onAnswer(route, res.statusCode, (performance.now() - startedAt) / 1000));
    next();
  };
}

function letIn(route: Route, authenticate: Authenticate): RequestHandler {
  return async (req: Request, res: Response, next) => {
    res.locals['caller'] = await answered(() => authenticate(route.auth, req));
    next();
  };
}

function bodyOf(route: Route): RequestHandler {
  return route.body === undefined
    ? (_req, _res, next) => next()
    : express.json({ limit: route.maxBodyBytes ?? DEFAULT_BODY_BYTES });
}

/** Runs a part of a route; a database that does not answer becomes a 503 that says so. */
async function answered<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw databaseProblem(error) ?? error;
  }
}

function pathParams(req: Request): Record<string, string> {
  return Object.fromEntries(Object.entries(req.params).map(([name, value]) => [name, String(value)]));
}
