import type { Request, Response } from 'express';
import { bearerToken } from '@sluice/service-kit';

/** A name of its own: cookies ignore ports, so the operator console's cookie arrives here too. */
export const SESSION_COOKIE = 'sluice_session';

/** The session token of a request: `Authorization: Bearer`, else the cookie. */
export function sessionTokenOf(req: Request): string | undefined {
  const bearer = bearerToken(req.headers.authorization);
  if (bearer !== undefined) return bearer;
  for (const part of (req.headers.cookie ?? '').split(';')) {
    const at = part.indexOf('=');
    if (at > 0 && part.slice(0, at).trim() === SESSION_COOKIE) return part.slice(at + 1).trim();
  }
  return undefined;
}

/**
 * Sets the cookie; for a page that came over TLS never to be sent without. A browser names the page's origin with
 * every sign-in, also behind a proxy that ends the TLS.
 */
export function setSessionCookie(req: Request, res: Response, token: string, maxAgeMs: number): void {
  const secure = req.headers.origin?.startsWith('https://') === true;
  res.cookie(SESSION_COOKIE, token, { httpOnly: true, sameSite: 'lax', path: '/', maxAge: maxAgeMs, secure });
}

export function clearSessionCookie(res: Response): void {
  res.clearCookie(SESSION_COOKIE, { httpOnly: true, sameSite: 'lax', path: '/' });
}
