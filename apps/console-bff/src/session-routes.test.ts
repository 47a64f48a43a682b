import { SESSION_TTL_MS } from './sessions.ts';
import { ALLOWED_ORIGIN, startTestBff, TLS_ORIGIN, type TestBff } from './test-support/start-test-bff.ts';
import { DEVICE, INVITATION, PASSWORD, SECRET_FIELD } from './test-support/fake-control-plane.ts';

let bff: TestBff;
beforeEach(async () => {
  bff = await startTestBff();
});
afterEach(() => bff.close());

const signIn = (body: object, headers: Record<string, string> = {}) =>
  fetch(`${bff.url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const PERSON = { email: 'viewer@acme-prod', password: PASSWORD };

describe('session', () => {
  it('is a cookie that scripts cannot read and other sites cannot use', async () => {
    const res = await signIn(PERSON);
    const cookie = res.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^sluice_session=[\w-]{43}; .*HttpOnly/);
    expect(cookie).toContain('SameSite=Lax');
    expect(await res.json()).toEqual({
      kind: 'person',
      userId: 'u-viewer@acme-prod',
      email: 'viewer@acme-prod',
      roles: { 'acme-prod': 'viewer' },
      permissions: { 'acme-prod': ['usage:read', 'policy:read'] },
    });
    const who = await fetch(`${bff.url}/api/session`, {
      headers: { cookie: `sluice_operator=other; ${cookie.split(';')[0]}` },
    });
    expect(who.status).toBe(200);
    expect(await who.text()).not.toContain(SECRET_FIELD);
  });

  it('is never sent in the clear when the page came over TLS', async () => {
    const cookieFor = async (origin: string) => (await signIn(PERSON, { origin })).headers.get('set-cookie');
    expect(await cookieFor(TLS_ORIGIN)).toContain('; Secure');
    expect(await cookieFor(ALLOWED_ORIGIN)).not.toContain('Secure');
  });

  it('is a bearer token, without a cookie, when that was asked for', async () => {
    const res = await signIn({ ...PERSON, bearer: true });
    expect(res.headers.has('set-cookie')).toBe(false);
    const { token } = (await res.json()) as { token: string };
    expect((await bff.ask(token, 'get', '/api/session')).status).toBe(200);
  });

  it('ends when signed out, and only that one', async () => {
    const [one, two] = [await bff.signIn(PERSON.email), await bff.signIn(PERSON.email)];
    expect((await bff.ask(one, 'delete', '/api/session')).status).toBe(204);
    expect((await bff.ask(one, 'get', '/api/session')).status).toBe(401);
    expect((await bff.ask(two, 'get', '/api/session')).status).toBe(200);
  });

  it('ends by itself', async () => {
    const token = await bff.signIn(PERSON.email);
    bff.clock.advance(SESSION_TTL_MS - 1);
    expect((await bff.ask(token, 'get', '/api/session')).status).toBe(200);
    bff.clock.advance(1);
    expect((await bff.ask(token, 'get', '/api/session')).status).toBe(401);
  });

  it('is not opened with a wrong password', async () => {
    const res = await signIn({ ...PERSON, password: 'wrong' });
    expect([res.status, res.headers.has('set-cookie')]).toEqual([401, false]);
  });

  it('passes on a lock-out with its wait, and nothing else of the answer', async () => {
    bff.upstream.failWith = { status: 429, body: '{"secret":"sekret"}', headers: { 'retry-after': '30' } };
    const res = await signIn(PERSON);
    expect([res.status, res.headers.get('retry-after')]).toEqual([429, '30']);
    expect(await res.text()).not.toContain('sekret');
  });
});

describe('who signs in', () => {
  const asked = () => bff.upstream.signIns.at(-1) ?? {};

  it('is told to the control plane by the address of the connection, whatever the caller claims', async () => {
    await signIn(PERSON, { 'x-forwarded-for': '203.0.113.66' });
    expect(asked().address).toMatch(/127\.0\.0\.1$/);
  });

  it('is told by the address that a trusted proxy saw, not by what the client wrote before it', async () => {
    const behind = await startTestBff({ trustedProxies: ['loopback'] });
    try {
      await behind.ask(undefined, 'post', '/api/session', PERSON, { 'x-forwarded-for': '203.0.113.66, 198.51.100.7' });
      expect(behind.upstream.signIns.at(-1)?.address).toBe('198.51.100.7');
    } finally {
      await behind.close();
    }
  });

  it('gets a proof for the next sign-in, which outlives the session and is passed on', async () => {
    const res = await signIn(PERSON, { origin: TLS_ORIGIN });
    const cookie = res.headers.getSetCookie().find((line) => line.startsWith('sluice_device=')) ?? '';
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/Secure/);
    expect(cookie).toMatch(/SameSite=Strict/);
    expect(cookie).toContain(DEVICE);
    expect(await res.text()).not.toContain(DEVICE);
    const out = await bff.ask(await bff.signIn(PERSON.email), 'delete', '/api/session');
    expect(out.headers.getSetCookie().join()).not.toContain('sluice_device');
    await signIn({ ...PERSON, password: 'wrong' }, { cookie: `a=b; ${cookie.split(';', 1)[0]}` });
    expect(bff.upstream.signIns.at(-1)?.device).toBe(DEVICE);
  });
});

describe('an invitation to another customer’s workspace', () => {
  it('is listed for the person, taken with its code, and declined; nothing else of the answers is shown', async () => {
    const token = await bff.signIn(PERSON.email);
    const list = await (await bff.ask(token, 'get', '/api/invitations')).text();
    expect(list).toContain('globex-prod');
    expect(list).not.toContain(SECRET_FIELD);
    const take = async (id: string, invitation: string) =>
      (await bff.ask(token, 'post', `/api/invitations/${id}`, { invitation })).status;
    expect(await take('inv_1', 'wrong'.repeat(5))).toBe(400);
    expect(await take('inv_2', INVITATION)).toBe(404);
    bff.upstream.roles = { 'acme-prod': 'viewer', 'globex-prod': 'viewer' };
    expect(await take('inv_1', INVITATION)).toBe(204);
    // In effect at once, not after the roles have been looked at again.
    expect(await (await bff.ask(token, 'get', '/api/session')).json()).toMatchObject({
      roles: { 'globex-prod': 'viewer' },
    });
    expect(bff.upstream.lastPrincipal).toMatchObject({ email: PERSON.email });
    expect((await bff.ask(token, 'delete', '/api/invitations/inv_1')).status).toBe(204);
    for (const [method, path] of [
      ['get', '/api/invitations'],
      ['post', '/api/invitations/inv_1'],
      ['delete', '/api/invitations/inv_1'],
    ] as const)
      expect(
        (await bff.ask(undefined, method, path, method === 'post' ? { invitation: INVITATION } : undefined)).status,
      ).toBe(401);
  });
});

describe('the own password', () => {
  const change = (token: string | undefined, body: object, headers: Record<string, string> = {}) =>
    bff.ask(token, 'post', '/api/password', body, headers);
  const GOOD = { old_password: PASSWORD, new_password: 'a new long password' };

  it('is changed in the name of the person who is signed in, and ends each of their sessions at once and nobody else’s', async () => {
    const [one, two, other] = [
      await bff.signIn(PERSON.email),
      await bff.signIn(PERSON.email),
      await bff.signIn('admin@acme-prod'),
    ];
    expect((await bff.ask(two, 'get', '/api/session')).status).toBe(200);
    const res = await change(one, GOOD);
    expect([res.status, res.headers.get('set-cookie')]).toEqual([204, expect.stringMatching(/^sluice_session=;/)]);
    expect(bff.upstream.lastPrincipal).toMatchObject({ userId: 'u-viewer@acme-prod' });
    const after = await Promise.all(
      [one, two, other].map(async (token) => (await bff.ask(token, 'get', '/api/session')).status),
    );
    expect(after).toEqual([401, 401, 200]);
  });

  it('stays with the field named when the old one is wrong or the new one too short, and the session goes on', async () => {
    const token = await bff.signIn(PERSON.email);
    const wrong = await change(token, { ...GOOD, old_password: 'wrong' });
    expect([wrong.status, await wrong.json()]).toMatchObject([400, { errors: [{ path: 'old_password' }] }]);
    const short = await change(token, { ...GOOD, new_password: 'short' });
    expect([short.status, await short.json()]).toMatchObject([
      400,
      { errors: [{ path: 'new_password', message: 'must have at least 12 characters' }] },
    ]);
    expect((await bff.ask(token, 'get', '/api/session')).status).toBe(200);
  });

  it('is asked of nobody who is not signed in, and by no page of another origin', async () => {
    expect((await change(undefined, GOOD)).status).toBe(401);
    expect((await change(await bff.signIn(PERSON.email), GOOD, { origin: 'https://evil.test' })).status).toBe(403);
    expect(bff.upstream.calls.filter((call) => call.includes('password'))).toEqual([]);
  });
});

describe('a control plane that misbehaves', () => {
  it.each([
    { status: 500, body: 'sekret' },
    { status: 200, body: 'sekret, no JSON' },
    { status: 200, body: '{"workspace":"sekret"}' },
    { status: 302, body: '', headers: { location: 'http://127.0.0.1:1/' } },
  ])('is a 502 that shows nothing of it ($status $body)', async (answer) => {
    const token = await bff.signIn('admin@acme-prod');
    bff.upstream.failWith = answer;
    const res = await bff.ask(token, 'get', '/api/overview?workspace=acme-prod');
    expect(res.status).toBe(502);
    expect(await res.text()).not.toContain('sekret');
  });
});

describe('origin check', () => {
  const status = async (headers: Record<string, string>) => (await signIn(PERSON, headers)).status;

  it('refuses writes from pages of other origins, and lets the console and programs write', async () => {
    expect(await status({ origin: 'https://evil.test' })).toBe(403);
    expect(await status({ origin: 'null' })).toBe(403);
    expect(await status({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await status({ origin: ALLOWED_ORIGIN })).toBe(200);
    expect(await status({})).toBe(200);
  });
});

describe('metrics', () => {
  it('count by route pattern, never by what was asked for', async () => {
    const token = await bff.signIn(PERSON.email);
    await bff.ask(token, 'delete', '/api/keys/sekret?workspace=acme-prod');
    await bff.ask(token, 'get', '/api/sekret');
    const text = await bff.metrics.text();
    expect(text).toContain('route="/api/keys/:keyId",status="403"');
    expect(text).toContain('route="none",status="404"');
    expect(text).not.toContain('sekret');
  });
});
