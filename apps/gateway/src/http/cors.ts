import type { IncomingMessage, ServerResponse } from 'node:http';
import { EXPOSED_HEADERS } from '@sluice/contracts';

const EXPOSED = EXPOSED_HEADERS.join(', ');
const PREFLIGHT_SECONDS = '600';

/** Answers to browsers of other origins; only those on the list get any. */
export interface Cors {
  /** Headers for an answer to this request: name, value pairs; empty for everybody else. */
  headersFor(request: IncomingMessage): readonly (readonly [string, string])[];
  /** Answers a preflight request; false when this is none of an allowed origin. */
  preflight(request: IncomingMessage, response: ServerResponse): boolean;
}

const NONE: readonly (readonly [string, string])[] = [];

/** @param origins exact origins (`https://app.example.com`); `*` is not understood on purpose. */
export function createCors(origins: readonly string[]): Cors {
  const allowed = new Set(origins);
  const cors: Cors = {
    headersFor(request) {
      if (allowed.size === 0) return NONE;
      const { origin } = request.headers;
      if (origin === undefined || !allowed.has(origin)) return [['vary', 'origin']];
      return [
        ['vary', 'origin'],
        ['access-control-allow-origin', origin],
        ['access-control-expose-headers', EXPOSED],
      ];
    },
    preflight(request, response) {
      const { origin } = request.headers;
      if (request.method !== 'OPTIONS' || origin === undefined || !allowed.has(origin)) return false;
      for (const [name, value] of cors.headersFor(request)) response.setHeader(name, value);
      response.setHeader('access-control-allow-methods', 'GET, POST');
      response.setHeader(
        'access-control-allow-headers',
        request.headers['access-control-request-headers'] ?? 'authorization, content-type, x-api-key',
      );
      response.setHeader('access-control-max-age', PREFLIGHT_SECONDS);
      response.setHeader('x-content-type-options', 'nosniff');
      response.writeHead(204).end();
      return true;
    },
  };
  return cors;
}
