import { request } from 'node:http';
import { ACME_KEY } from '../testing/demo-seed.ts';
import { startTestPlane, type TestPlane } from '../testing/start-test-plane.ts';

/** Routes that anybody may call; a new one must be added here on purpose. */
const OPEN = ['post /api/session', 'get /openapi.json', 'get /docs'];

let test: TestPlane;
beforeAll(async () => {
  test = await startTestPlane();
});
afterAll(() => test.close());

/** Status of a request with exactly these headers; a connection that stays open is closed at its head. */
function statusOf(method: string, path: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(`${test.url}${path.replace(/:[A-Za-z]+/g, 'acme-prod')}`, { method: method.toUpperCase(), headers }, (res) => {
      resolve(res.statusCode ?? 0);
      res.destroy();
    });
    call.on('error', reject);
    call.end();
  });
}

describe('every route of the table', () => {
  it('is closed to callers without credentials, and to a customer\'s key', async () => {
    const guarded = test.plane.routes.filter((route) => !OPEN.includes(`${route.method} ${route.path}`));
    expect(guarded.length).toBeGreaterThan(30);
    for (const { method, path } of guarded) {
      const name = `${method} ${path}`;
      expect([name, await statusOf(method, path)]).toEqual([name, 401]);
      expect([name, await statusOf(method, path, { authorization: `Bearer ${ACME_KEY}` })]).toEqual([name, 401]);
      expect([name, await statusOf(method, path, { cookie: `sluice_operator=${ACME_KEY}`, origin: test.url })]).toEqual([name, 401]);
    }
  });

  it('is not served under another host name or to another origin, even to a signed-in operator', async () => {
    for (const { method, path } of test.plane.routes) {
      const name = `${method} ${path}`;
      const authorization = `Bearer ${test.token}`;
      expect([name, await statusOf(method, path, { authorization, host: 'evil.test' })]).toEqual([name, 421]);
      expect([name, await statusOf(method, path, { authorization, host: 'localhost:1' })]).toEqual([name, 421]);
      expect([name, await statusOf(method, path, { authorization, origin: 'http://evil.test' })]).toEqual([name, 403]);
    }
  });

  it('opens to the token of its own kind only', async () => {
    const tokens = { operator: test.token, gateway: 'gateway-token', bff: 'bff-token' };
    for (const route of test.plane.routes.filter(({ auth }) => auth !== 'none')) {
      const own = route.auth === 'person' ? 'bff' : route.auth;
      for (const [kind, token] of Object.entries(tokens)) {
        if (kind === own) continue;
        expect([route.path, kind, await statusOf(route.method, route.path, { authorization: `Bearer ${token}` })]).toEqual([route.path, kind, 401]);
      }
    }
  });

  it('is described: /openapi.json names each path and method', async () => {
    const description = (await (await fetch(`${test.url}/openapi.json`)).json()) as { openapi: string; paths: Record<string, Record<string, unknown>> };
    expect(description.openapi).toMatch(/^3\.1/);
    for (const { method, path } of test.plane.routes) {
      expect(Object.keys(description.paths[path.replace(/:([A-Za-z]+)/g, '{$1}')] ?? {})).toContain(method);
    }
  });
});

describe('the operator cookie', () => {
  it('reads, but changes nothing without the page\'s own origin', async () => {
    const signedIn = await fetch(`${test.url}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: test.url },
      body: JSON.stringify({ user: 'ops', password: 'operator-password' }),
    });
    const set = signedIn.headers.get('set-cookie') ?? '';
    expect(set).toMatch(/^sluice_operator=.*; Path=\/; .*HttpOnly; SameSite=Strict/);
    const cookie = set.split(';', 1)[0] ?? '';
    expect(await statusOf('get', '/api/session', { cookie })).toBe(200);
    expect(await statusOf('delete', '/api/kill-switches/none', { cookie })).toBe(403);
    expect(await statusOf('delete', '/api/kill-switches/none', { cookie, origin: test.url })).toBe(404);
    expect(await statusOf('delete', '/api/session', { cookie, origin: test.url })).toBe(204);
    expect(await statusOf('get', '/api/session', { cookie })).toBe(401);
  });
});

describe('the console', () => {
  it('says that it has not been built, instead of showing nothing', async () => {
    const page = await fetch(`${test.url}/_console/incident`);
    expect(page.status).toBe(503);
    expect(await page.text()).toContain('has not been built');
  });
});
