import type { Request, Response } from 'express';
import { bearerToken } from '@sluice/service-kit';

/** A name of its own: cookies ignore ports, so the operator console's cookie arrives here too. */
export const SESSION_COOKIE = 'sluice_session';

/** Proof that this browser has signed in before. */
export const DEVICE_COOKIE = 'sluice_device';
const DEVICE_TTL_MS = 90 * 86_400_000;
const MAX_DEVICE = 200;

/** The session token of a request: `Authorization: Bearer`, else the cookie. */
export function sessionTokenOf(req: Request): string | undefined {
  const bearer = bearerToken(req.headers.authorization);
  if (bearer !== undefined) return bearer;
  return cookieOf(req, SESSION_COOKIE);
}

/** The proof of an earlier sign-in that the request's browser brings, for the control plane to judge. */
export function deviceOf(req: Request): string | undefined {
  const device = cookieOf(req, DEVICE_COOKIE);
  return device === undefined || device.length > MAX_DEVICE ? undefined : device;
}

function cookieOf(req: Request, name: string): string | undefined {
  for (const part of (req.headers.cookie ?? '').split(';')) {
    const at = part.indexOf('=');
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}

/**
 * Sets the cookie; for a page that came over TLS never to be sent without. A browser names the page's origin with
 * every sign-in, also behind a proxy that ends the TLS.
 */
export function setSessionCookie(req: Request, res: Response, token: string, maxAgeMs: number): void {
  res.cookie(SESSION_COOKIE, token, {
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    maxAge: maxAgeMs,
    secure: cameOverTls(req),
  });
}

/** Gives the browser its proof for the next sign-in; it stays when a session ends. */
export function setDeviceCookie(req: Request, res: Response, device: string): void {
  res.cookie(DEVICE_COOKIE, device, {
    httpOnly: true,
    sameSite: 'strict',
    path: '/api',
    maxAge: DEVICE_TTL_MS,
    secure: cameOverTls(req),
  });
}

const cameOverTls = (req: Request): boolean => req.headers.origin?.startsWith('https://') === true;

export function clearSessionCookie(res: Response): void {
  res.clearCookie(SESSION_COOKIE, { httpOnly: true, sameSite: 'lax', path: '/' });
}
