import express from 'express';
import type { Principal } from '@sluice/contracts';
import { createFakeClock } from '@sluice/testing';
import { finishApp } from './app.ts';
import { listen } from './listen.ts';
import { createLogger } from './logger.ts';
import { requireServiceToken, safeEqual, signPrincipal, verifyPrincipal } from './service-auth.ts';

const KEY = 'k'.repeat(32);
const PERSON: Principal = { kind: 'person', userId: 'u1', email: 'a@acme.test', roles: { 'acme-prod': 'viewer' } };

describe('signed principal', () => {
  it('is read back for 60 seconds and not a second longer', () => {
    const clock = createFakeClock(1_000_000);
    const header = signPrincipal(PERSON, KEY, clock);
    clock.advance(60_000);
    expect(verifyPrincipal(header, KEY, clock)).toEqual(PERSON);
    clock.advance(1_000);
    expect(verifyPrincipal(header, KEY, clock)).toBeUndefined();
  });

  it('is refused when any single character of it was changed', () => {
    const clock = createFakeClock(0);
    const header = signPrincipal(PERSON, KEY, clock);
    for (let i = 0; i < header.length; i++) {
      const altered = header.slice(0, i) + (header[i] === 'A' ? 'B' : 'A') + header.slice(i + 1);
      expect(verifyPrincipal(altered, KEY, clock)).toBeUndefined();
    }
  });

  it('is refused with a role that was added, under another key, or unsigned', () => {
    const clock = createFakeClock(0);
    const [, signature] = signPrincipal(PERSON, KEY, clock).split('.');
    const forged = Buffer.from(JSON.stringify({ ...PERSON, roles: { 'globex-prod': 'admin' }, exp: 9e9 })).toString(
      'base64url',
    );
    for (const header of [
      `${forged}.${signature}`,
      `${forged}.`,
      forged,
      '',
      '.',
      undefined,
      signPrincipal(PERSON, 'other'.repeat(8), clock),
    ]) {
      expect(verifyPrincipal(header, KEY, clock)).toBeUndefined();
    }
  });

  it('is refused when signed content is not a principal', () => {
    const clock = createFakeClock(0);
    const odd = signPrincipal({ ...PERSON, roles: { 'acme-prod': 'owner' } } as unknown as Principal, KEY, clock);
    expect(verifyPrincipal(odd, KEY, clock)).toBeUndefined();
  });
});

describe('requireServiceToken', () => {
  async function statusFor(authorization?: string): Promise<[number, string]> {
    const app = express();
    app.get(
      '/x',
      requireServiceToken({ bff: 'token-of-the-bff', router: 'token-of-the-router' }),
      (_req, res) => void res.send(String(res.locals['service'])),
    );
    finishApp(app, { logger: createLogger({ service: 't', level: 'silent' }) });
    const server = await listen(app, { host: '127.0.0.1', port: 0 });
    const res = await fetch(`${server.url}/x`, authorization === undefined ? {} : { headers: { authorization } });
    const result: [number, string] = [res.status, await res.text()];
    await server.close();
    return result;
  }

  it('lets a known token in and tells whose it is', async () => {
    expect(await statusFor('Bearer token-of-the-router')).toEqual([200, 'router']);
  });

  it.each([
    undefined,
    '',
    'Bearer ',
    'Bearer wrong',
    'Basic token-of-the-bff',
    'Bearer token-of-the-bff2',
    'token-of-the-bff',
  ])('refuses %p', async (authorization) => {
    expect((await statusFor(authorization))[0]).toBe(401);
  });

  it('does not start with an empty token', () => {
    expect(() => requireServiceToken({ bff: '' })).toThrow(RangeError);
  });
});

describe('safeEqual', () => {
  it('compares whole texts of any length', () => {
    expect([safeEqual('a', 'a'), safeEqual('a', 'ab'), safeEqual('', ''), safeEqual('a', 'b')]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });
});
