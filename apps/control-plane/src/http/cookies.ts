import type { Request, Response } from 'express';
import { DEVICE_TTL_MS } from '../session/device-tokens.ts';

/** A name of its own, because cookies ignore ports. */
export const OPERATOR_COOKIE = 'sluice_operator';

/** Proof of an earlier sign-in from this browser. */
const DEVICE_COOKIE = 'sluice_operator_device';

/** The session token of the request's cookie. */
export function readSessionCookie(req: Request): string | undefined {
  return readCookie(req, OPERATOR_COOKIE);
}

/** The device's proof of the request's cookie. */
export function readDeviceCookie(req: Request): string | undefined {
  return readCookie(req, DEVICE_COOKIE);
}

/** Gives the browser its proof for the next sign-in; it stays when a session ends. */
export function setDeviceCookie(res: Response, token: string): void {
  res.cookie(DEVICE_COOKIE, token, { httpOnly: true, sameSite: 'strict', path: '/api/session', maxAge: DEVICE_TTL_MS });
}

function readCookie(req: Request, name: string): string | undefined {
  for (const part of (req.headers.cookie ?? '').split(';')) {
    const at = part.indexOf('=');
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
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
