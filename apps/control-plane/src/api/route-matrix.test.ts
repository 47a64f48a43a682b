import { request } from 'node:http';
import { PRINCIPAL_HEADER, systemClock, type OperatorRole, type Principal } from '@sluice/contracts';
import { signPrincipal } from '@sluice/service-kit';
import { ACME_KEY } from '../testing/demo-seed.ts';
import { DECLARED_ROUTES } from '../testing/declared-routes.ts';
import { startTestPlane, TEST_SETTINGS, type TestPlane } from '../testing/start-test-plane.ts';
import type { RouteAuth } from './route.ts';

const RANK: readonly OperatorRole[] = ['viewer', 'operator', 'admin'];
const ADA: Principal = { kind: 'person', userId: 'u1', email: 'ada@acme.test', roles: { 'acme-prod': 'admin' } };

interface Caller {
  readonly name: string;
  readonly headers: () => Promise<Record<string, string>> | Record<string, string>;
  /** The status with which a route of this kind turns the caller away; undefined when it is let in. */
  readonly refusal: (auth: RouteAuth) => 401 | 403 | 421 | undefined;
}

let test: TestPlane;
beforeAll(async () => {
  test = await startTestPlane();
});
afterAll(() => test.close());

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const sessionOf = (role: OperatorRole): Promise<string> => test.plane.sessions.open({ user: `a-${role}`, role });
const isOperators = (auth: RouteAuth): auth is OperatorRole => (RANK as readonly string[]).includes(auth);
const byRole = (role: OperatorRole) => (auth: RouteAuth) => {
  if (auth === 'none') return undefined;
  if (!isOperators(auth)) return 401;
  return RANK.indexOf(role) >= RANK.indexOf(auth) ? undefined : 403;
};
const onlyOpen = (auth: RouteAuth) => (auth === 'none' ? undefined : 401);
const signed = (): Record<string, string> => ({
  [PRINCIPAL_HEADER]: signPrincipal(ADA, TEST_SETTINGS.principalKey, systemClock),
});

const CALLERS: readonly Caller[] = [
  { name: 'nobody', headers: () => ({}), refusal: onlyOpen },
  ...RANK.map((role): Caller => ({
    name: `a signed-in ${role}`,
    headers: async () => bearer(await sessionOf(role)),
    refusal: byRole(role),
  })),
  ...RANK.map((role): Caller => ({
    name: `the cookie of a ${role}`,
    headers: async () => ({ cookie: `sluice_operator=${await sessionOf(role)}`, origin: test.url }),
    refusal: byRole(role),
  })),
  { name: "a customer's key", headers: () => bearer(ACME_KEY), refusal: onlyOpen },
  { name: "a customer's key as x-api-key", headers: () => ({ 'x-api-key': ACME_KEY }), refusal: onlyOpen },
  {
    name: "a customer's key in the operator's cookie",
    headers: () => ({ cookie: `sluice_operator=${ACME_KEY}`, origin: test.url }),
    refusal: onlyOpen,
  },
  {
    name: 'the session cookie of a person',
    headers: async () => ({ cookie: `sluice_session=${await sessionOf('admin')}`, origin: test.url }),
    refusal: onlyOpen,
  },
  { name: 'a signed principal alone', headers: signed, refusal: onlyOpen },
  { name: 'a principal as a bearer token', headers: () => bearer(signed()[PRINCIPAL_HEADER] ?? ''), refusal: onlyOpen },
  {
    name: "the gateways' token",
    headers: () => bearer(TEST_SETTINGS.gatewayToken),
    refusal: (auth) => (auth === 'none' || auth === 'gateway' ? undefined : 401),
  },
  {
    name: "the router's token",
    headers: () => bearer(TEST_SETTINGS.routerToken),
    refusal: (auth) => (auth === 'none' || auth === 'router' ? undefined : 401),
  },
  {
    name: "the console backend's token",
    headers: () => bearer(TEST_SETTINGS.bffToken),
    refusal: (auth) => (auth === 'none' || auth === 'bff' ? undefined : 401),
  },
  {
    name: "the console backend in a person's name",
    headers: () => ({ ...bearer(TEST_SETTINGS.bffToken), ...signed() }),
    refusal: (auth) => (['none', 'bff', 'person'].includes(auth) ? undefined : 401),
  },
  {
    name: "the gateways' token with a principal",
    headers: () => ({ ...bearer(TEST_SETTINGS.gatewayToken), ...signed() }),
    refusal: (auth) => (auth === 'none' || auth === 'gateway' ? undefined : 401),
  },
  { name: 'the key that signs principals', headers: () => bearer(TEST_SETTINGS.principalKey), refusal: onlyOpen },
  {
    name: 'an admin under a foreign host',
    headers: async () => ({ ...bearer(await sessionOf('admin')), host: 'evil.test' }),
    refusal: () => 421,
  },
  {
    name: 'an admin under a loopback name with another port',
    headers: async () => ({ ...bearer(await sessionOf('admin')), host: 'localhost:1' }),
    refusal: () => 421,
  },
  {
    name: 'an admin from a foreign origin',
    headers: async () => ({ ...bearer(await sessionOf('admin')), origin: 'http://evil.test' }),
    refusal: () => 403,
  },
  {
    name: 'an admin from an opaque origin',
    headers: async () => ({ ...bearer(await sessionOf('admin')), origin: 'null' }),
    refusal: () => 403,
  },
];

/** Status of a request with exactly these headers; a connection that stays open is closed at its head. */
function statusOf(method: string, path: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(
      `${test.url}${path.replace(/:[A-Za-z]+/g, 'acme-prod')}`,
      { method: method.toUpperCase(), headers },
      (res) => {
        resolve(res.statusCode ?? 0);
        res.destroy();
      },
    );
    call.on('error', reject);
    call.end();
  });
}

it('every route says on purpose who may call it, and asks for that', () => {
  const declared = Object.entries(DECLARED_ROUTES).flatMap(([auth, routes]) =>
    routes.map((route) => `${route}: ${auth}`),
  );
  expect(test.plane.routes.map(({ method, path, auth }) => `${method} ${path}: ${auth}`).toSorted()).toEqual(
    declared.toSorted(),
  );
});

describe.each(CALLERS)('$name', ({ headers, refusal }) => {
  it('is let in where it is declared, and turned away everywhere else', async () => {
    const wrong: string[] = [];
    for (const { method, path, auth } of test.plane.routes) {
      const expected = refusal(auth);
      const status = await statusOf(method, path, await headers());
      const refused = [401, 403, 421].includes(status);
      if (expected === undefined ? refused : status !== expected)
        wrong.push(`${method} ${path} (${auth}): ${status}, not ${expected ?? 'let in'}`);
    }
    expect(wrong).toEqual([]);
  });
});

it('a path that no route has, or a method that a path has not, answers nothing but 404', async () => {
  const admin = bearer(await sessionOf('admin'));
  for (const [method, path] of [
    ['get', '/api/nothing'],
    ['post', '/api/tenants'],
    ['get', '/internal/config'],
    ['delete', '/docs'],
    ['get', '/api/tenants/../../etc/passwd'],
  ] as const) {
    expect([method, path, await statusOf(method, path, admin)]).toEqual([method, path, 404]);
  }
});

it("a change by cookie needs the page's own origin, a change by bearer token does not", async () => {
  const token = await sessionOf('admin');
  const cookie = `sluice_operator=${token}`;
  for (const { method, path } of test.plane.routes.filter(
    (route) => isOperators(route.auth) && route.method !== 'get' && route.path !== '/api/session',
  )) {
    expect([method, path, await statusOf(method, path, { cookie })]).toEqual([method, path, 403]);
    expect([method, path, await statusOf(method, path, bearer(token))]).not.toEqual([method, path, 403]);
  }
});
