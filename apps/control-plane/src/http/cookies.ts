import type { Request, Response } from 'express';

/** A name of its own, because cookies ignore ports. */
export const OPERATOR_COOKIE = 'sluice_operator';

/** The session token of the request's cookie. */
export function readSessionCookie(req: Request): string | undefined {
  for (const part of (req.headers.cookie ?? '').split(';')) {
    const at = part.indexOf('=');
    if (at > 0 && part.slice(0, at).trim() === OPERATOR_COOKIE) return part.slice(at + 1).trim();
  }
  return undefined;
}

/** Sets the session cookie: not readable by scripts, never sent from another site. */
export function setSessionCookie(res: Response, token: string, maxAgeMs: number): void {
  res.cookie(OPERATOR_COOKIE, token, { httpOnly: true, sameSite: 'strict', path: '/', maxAge: maxAgeMs });
}

/** Removes it. */
export function clearSessionCookie(res: Response): void {
  res.clearCookie(OPERATOR_COOKIE, { httpOnly: true, sameSite: 'strict', path: '/' });
}
