import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { Principal, PRINCIPAL_TTL_S, type Clock } from '@sluice/contracts';
import { ProblemError } from './problem.ts';

/** Compares two secrets in a time that depends on neither content nor common prefix. */
export function safeEqual(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The token of `Authorization: Bearer <token>`. */
export function bearerToken(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +([^\s]+)$/i.exec(header)?.[1];
}

/**
 * Lets a request pass that carries one of the tokens, and puts the token's name into `res.locals.service`; 401
 * otherwise.
 *
 * @param tokens name of the calling service → its token.
 * @throws RangeError when a token is empty, which would let everybody in.
 */
export function requireServiceToken(tokens: Record<string, string>): RequestHandler {
  const known = Object.entries(tokens);
  for (const [name, token] of known) if (token === '') throw new RangeError(`the service token of ${name} is empty`);
  return function serviceToken(req: Request, res: Response, next: NextFunction) {
    const given = bearerToken(req.headers.authorization);
    let match: string | undefined;
    if (given !== undefined) for (const [name, token] of known) if (safeEqual(token, given)) match = name;
    if (match === undefined) {
      throw new ProblemError(401, 'A valid service token is required', { headers: { 'www-authenticate': 'Bearer' } });
    }
    res.locals['service'] = match;
    next();
  };
}

/** The header value by which the BFF tells the control plane who asks; valid for `PRINCIPAL_TTL_S` seconds. */
export function signPrincipal(principal: Principal, key: string, clock: Pick<Clock, 'now'>): string {
  const exp = Math.floor(clock.now() / 1000) + PRINCIPAL_TTL_S;
  const payload = Buffer.from(JSON.stringify({ ...principal, exp })).toString('base64url');
  return `${payload}.${mac(payload, key)}`;
}

/**
 * The principal of a header value; undefined when it is absent, malformed, altered, signed by another key or too
 * old.
 */
export function verifyPrincipal(
  header: string | undefined,
  key: string,
  clock: Pick<Clock, 'now'>,
): Principal | undefined {
  const [payload, signature, ...rest] = (header ?? '').split('.');
  if (payload === undefined || signature === undefined || rest.length > 0) return undefined;
  if (!safeEqual(mac(payload, key), signature)) return undefined;
  let claims: unknown;
  try {
    claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  const exp = (claims as { exp?: unknown } | null)?.exp;
  if (typeof exp !== 'number' || clock.now() / 1000 > exp) return undefined;
  const parsed = Principal.safeParse(claims);
  return parsed.success ? parsed.data : undefined;
}

function mac(payload: string, key: string): string {
  return createHmac('sha256', key).update(payload).digest('base64url');
}
