import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { HEADER, PROBLEM_TYPE_PREFIX, systemClock, type Clock, type Problem } from '@sluice/contracts';
import { createIds } from './ids.ts';
import type { Logger } from './logger.ts';
import { ProblemError } from './problem.ts';

export interface AppOptions {
  logger: Logger;
  /** `Host` headers to answer, lower case; an entry without a port allows every port. All hosts when absent. */
  allowedHosts?: readonly string[];
  /**
   * Largest JSON body, as Express reads it. Default `100kb`; false where the routes read bodies themselves, after
   * they know the caller.
   */
  jsonLimit?: string | number | false;
  /** Proxies whose `x-forwarded-for` is believed for `req.ip`; none when absent. */
  trustedProxies?: readonly string[] | undefined;
  clock?: Clock;
}

/** The id that this response carries. */
export function requestIdOf(res: Response): string {
  return String(res.locals['requestId'] ?? '');
}

/**
 * An Express 5 application with a request id, a host check, security headers and JSON bodies. Add routes, then call
 * `finishApp`. It does not listen.
 */
export function createApp({
  allowedHosts,
  jsonLimit = '100kb',
  trustedProxies = [],
  clock = systemClock,
}: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustedProxies.length === 0 ? false : [...trustedProxies]);
  const ids = createIds({ clock });
  const hosts = allowedHosts === undefined ? undefined : new Set(allowedHosts);

  app.use(function prepare(req: Request, res: Response, next: NextFunction) {
    const id = ids.requestId();
    res.locals['requestId'] = id;
    res.setHeader(HEADER.requestId, id);
    res.setHeader('x-content-type-options', 'nosniff');
    res.setHeader('x-frame-options', 'DENY');
    res.setHeader('referrer-policy', 'no-referrer');
    res.setHeader('cross-origin-resource-policy', 'same-origin');
    res.setHeader('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
    res.setHeader('cache-control', 'no-store');
    if (hosts !== undefined && !hostAllowed(hosts, req.headers.host)) {
      throw new ProblemError(421, 'This host name is not served here');
    }
    if (UNSTORABLE_PATH.test(req.url)) {
      throw new ProblemError(400, 'The address is not valid', {
        detail: 'The path or the query holds NUL (%00), which no store can keep.',
      });
    }
    next();
  });
  if (jsonLimit !== false) app.use(express.json({ limit: jsonLimit }));
  return app;
}

/** NUL as addresses write it. Half of a surrogate pair cannot be written in one. */
const UNSTORABLE_PATH = /%00/;

function hostAllowed(hosts: ReadonlySet<string>, header: string | undefined): boolean {
  if (header === undefined) return false;
  const host = header.toLowerCase();
  return hosts.has(host) || hosts.has(host.replace(/:\d+$/, ''));
}

/** Adds the last two handlers: 404 for what no route took, and RFC 9457 answers for what was thrown. */
export function finishApp(app: Express, { logger }: { logger: Logger }): void {
  app.use(function notFound() {
    throw new ProblemError(404, 'Not found');
  });
  // Express tells error handlers by their four parameters.
  app.use(function answerProblem(error: unknown, req: Request, res: Response, _next: NextFunction) {
    const problem = toProblem(error);
    const requestId = requestIdOf(res);
    if (problem.status >= 500 && problem.status !== 501) {
      const fault = error instanceof ProblemError ? (error.cause ?? error) : error;
      logger.error({ err: fault, request_id: requestId, method: req.method, status: problem.status }, 'request failed');
    }
    if (res.headersSent) {
      res.destroy();
      return;
    }
    sendProblem(res, problem);
  });
}

/** Writes a problem as the whole answer. */
export function sendProblem(res: Response, problem: ProblemError): void {
  const body: Problem = {
    type: problem.type === undefined ? 'about:blank' : `${PROBLEM_TYPE_PREFIX}${problem.type}`,
    title: problem.message,
    status: problem.status,
    ...(problem.detail === undefined ? {} : { detail: problem.detail }),
    request_id: requestIdOf(res),
    ...(problem.errors === undefined ? {} : { errors: problem.errors }),
    ...(problem.versions === undefined ? {} : { versions: problem.versions }),
  };
  res.status(problem.status).set(problem.headers).type('application/problem+json').send(JSON.stringify(body));
}

/** What a client may know of a fault: ours as it is, Express's 4xx by its status, anything else nothing. */
function toProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  const { status, type } = (typeof error === 'object' && error !== null ? error : {}) as {
    status?: unknown;
    type?: unknown;
  };
  if (type === 'entity.parse.failed') return new ProblemError(400, 'The request body is not valid JSON');
  if (type === 'entity.too.large') return new ProblemError(413, 'The request body is too large');
  if (typeof status === 'number' && status >= 400 && status < 500)
    return new ProblemError(status, 'The request could not be understood');
  return new ProblemError(500, 'Internal error', { cause: error });
}
