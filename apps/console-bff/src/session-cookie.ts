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

export function setSessionCookie(res: Response, token: string, maxAgeMs: number): void {
  res.cookie(SESSION_COOKIE, token, { httpOnly: true, sameSite: 'lax', path: '/', maxAge: maxAgeMs });
}

export function clearSessionCookie(res: Response): void {
  res.clearCookie(SESSION_COOKIE, { httpOnly: true, sameSite: 'lax', path: '/' });
}
