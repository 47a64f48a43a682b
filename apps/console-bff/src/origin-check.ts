import type { RequestHandler } from 'express';
import { ProblemError } from '@sluice/service-kit';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses writes that a browser sends for a page of another origin. Clients that are no browsers send neither
 * `Origin` nor `Sec-Fetch-Site` and pass.
 */
export function originCheck(allowedOrigins: readonly string[]): RequestHandler {
  const allowed = new Set(allowedOrigins);
  return function checkOrigin(req, _res, next) {
    if (!READS.has(req.method)) {
      const { origin } = req.headers;
      const site = req.headers['sec-fetch-site'];
      const foreign =
        origin === undefined ? site !== undefined && site !== 'same-origin' && site !== 'none' : !allowed.has(origin);
      if (foreign) throw new ProblemError(403, 'Requests from this origin are refused');
    }
    next();
  };
}

/** The origins of a stack's console and BFF, by both names of loopback. */
export function loopbackOrigins(ports: readonly number[]): string[] {
  return ports.flatMap((port) => [`http://127.0.0.1:${port}`, `http://localhost:${port}`]);
}
