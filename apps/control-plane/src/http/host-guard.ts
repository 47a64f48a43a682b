import type { Request, RequestHandler } from 'express';
import { ProblemError } from '@sluice/service-kit';

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Lets only requests pass whose `Host` is a loopback name with this socket's own port, or one of `extraHosts`
 * (`name:port`), and whose `Origin`, if there is one, is such a host too: a name that a customer's page resolves to
 * loopback (DNS rebinding) is answered 421, a foreign page's request 403.
 */
export function hostGuard(extraHosts: readonly string[] = []): RequestHandler {
  return (req, _res, next) => {
    const hosts = allowedHosts(req, extraHosts);
    if (!hosts.includes((req.headers.host ?? '').toLowerCase()))
      throw new ProblemError(421, 'This host is not served here');
    const origin = req.headers.origin;
    if (origin !== undefined && !isOwnOrigin(origin, hosts))
      throw new ProblemError(403, 'Requests from this origin are refused');
    next();
  };
}

function allowedHosts(req: Request, extraHosts: readonly string[]): string[] {
  const port = req.socket.localPort ?? 0;
  const names = LOOPBACK_NAMES.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]));
  return [...names, ...extraHosts.map((host) => host.toLowerCase())];
}

function isOwnOrigin(origin: string, hosts: readonly string[]): boolean {
  const match = /^https?:\/\/(.+)$/.exec(origin.toLowerCase());
  return match?.[1] !== undefined && hosts.includes(match[1]);
}
