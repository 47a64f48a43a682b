import { request } from 'node:http';
import { PRINCIPAL_HEADER, systemClock, type OperatorRole, type Principal } from '@sluice/contracts';
import { signPrincipal } from '@sluice/service-kit';
import { ACME_KEY } from '../testing/demo-seed.ts';
import { startTestPlane, TEST_SETTINGS, type TestPlane } from '../testing/start-test-plane.ts';
import type { RouteAuth } from './route.ts';

/**
 * Who may call what. A route that is not here, or that asks for less than what is written here, fails: whoever adds one says
 * on purpose who may call it.
 */
const DECLARED: Readonly<Record<RouteAuth, readonly string[]>> = {
  none: ['post /api/session', 'get /openapi.json', 'get /docs'],
  viewer: [
    'get /api/session', 'delete /api/session', 'get /api/state', 'get /api/state/stream',
    'get /api/ledger', 'get /api/ledger/summary', 'get /api/ledger/usage', 'get /api/ledger/rollups/check', 'get /api/audit',
    'get /api/tenants', 'get /api/workspaces', 'get /api/plans', 'get /api/providers', 'get /api/models', 'get /api/cells',
    'get /api/kill-switches', 'get /api/tenants/:id', 'get /api/workspaces/:id', 'get /api/plans/:id', 'get /api/providers/:id', 'get /api/models/:id',
    'get /api/cells/:id', 'get /api/kill-switches/:id', 'get /api/keys', 'get /api/keys/:keyId', 'get /api/plans/:id/prices',
    'get /api/providers/:id/credentials', 'get /api/gateways', 'get /api/gateways/:id', 'get /api/users', 'get /api/users/:id',
    'get /api/workspaces/:slug/policy', 'get /api/workspaces/:slug/keys', 'get /api/dlqs', 'get /api/exports', 'post /api/session/password',
  ],
  operator: [
    'post /api/workspaces/:slug/keys', 'put /api/keys/:keyId', 'delete /api/keys/:keyId', 'post /api/keys/:keyId/rotate',
    'put /api/kill-switches/:id', 'delete /api/kill-switches/:id', 'post /api/ledger/rollups/rebuild',
    'get /api/dlqs/:queue/messages', 'post /api/dlqs/:queue/redrive', 'post /api/dlqs/:queue/discard',
    'post /api/chaos/flood', 'post /api/chaos/provider', 'post /api/chaos/consumer', 'post /api/chaos/stop',
    'post /api/chaos/gateway', 'post /api/chaos/stream', 'post /api/chaos/valkey', 'post /api/chaos/poison',
  ],
  admin: [
    'put /api/tenants/:id', 'put /api/plans/:id', 'put /api/providers/:id', 'put /api/models/:id', 'put /api/workspaces/:slug/policy',
    'put /api/workspaces/:id', 'put /api/cells/:id', 'put /api/plans/:id/prices', 'put /api/providers/:id/credentials/:credential',
    'delete /api/tenants/:id', 'delete /api/workspaces/:id', 'delete /api/plans/:id', 'delete /api/providers/:id', 'delete /api/models/:id', 'delete /api/cells/:id',
    'delete /api/providers/:id/credentials/:credential', 'post /api/users', 'put /api/users/:id', 'delete /api/users/:id',
    'get /api/operators', 'get /api/operators/:name', 'post /api/operators', 'put /api/operators/:name', 'delete /api/operators/:name',
    'post /api/ledger/corrections',
  ],
  gateway: ['get /internal/config/stream', 'post /internal/gateways/report', 'post /internal/quota-use', 'get /internal/keys/:keyId/spend'],
  router: ['get /internal/router/config'],
  bff: ['post /internal/people/session'],
  person: [
    'post /internal/people/session/ended', 'get /internal/workspaces/:slug/overview', 'get /internal/workspaces/:slug/usage',
    'get /internal/workspaces/:slug/requests', 'get /internal/workspaces/:slug/policy', 'put /internal/workspaces/:slug/policy',
    'post /internal/workspaces/:slug/keys', 'get /internal/workspaces/:slug/keys', 'delete /internal/workspaces/:slug/keys/:keyId',
  ],
};

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
const signed = (): Record<string, string> => ({ [PRINCIPAL_HEADER]: signPrincipal(ADA, TEST_SETTINGS.principalKey, systemClock) });

const CALLERS: readonly Caller[] = [
  { name: 'nobody', headers: () => ({}), refusal: onlyOpen },
  ...RANK.map((role): Caller => ({ name: `a signed-in ${role}`, headers: async () => bearer(await sessionOf(role)), refusal: byRole(role) })),
  ...RANK.map((role): Caller => ({ name: `the cookie of a ${role}`, headers: async () => ({ cookie: `sluice_operator=${await sessionOf(role)}`, origin: test.url }), refusal: byRole(role) })),
  { name: "a customer's key", headers: () => bearer(ACME_KEY), refusal: onlyOpen },
  { name: "a customer's key as x-api-key", headers: () => ({ 'x-api-key': ACME_KEY }), refusal: onlyOpen },
  { name: "a customer's key in the operator's cookie", headers: () => ({ cookie: `sluice_operator=${ACME_KEY}`, origin: test.url }), refusal: onlyOpen },
  { name: "the session cookie of a person", headers: async () => ({ cookie: `sluice_session=${await sessionOf('admin')}`, origin: test.url }), refusal: onlyOpen },
  { name: 'a signed principal alone', headers: signed, refusal: onlyOpen },
  { name: 'a principal as a bearer token', headers: () => bearer(signed()[PRINCIPAL_HEADER] ?? ''), refusal: onlyOpen },
  { name: "the gateways' token", headers: () => bearer(TEST_SETTINGS.gatewayToken), refusal: (auth) => (auth === 'none' || auth === 'gateway' ? undefined : 401) },
  { name: "the router's token", headers: () => bearer(TEST_SETTINGS.routerToken), refusal: (auth) => (auth === 'none' || auth === 'router' ? undefined : 401) },
  { name: "the console backend's token", headers: () => bearer(TEST_SETTINGS.bffToken), refusal: (auth) => (auth === 'none' || auth === 'bff' ? undefined : 401) },
  { name: "the console backend in a person's name", headers: () => ({ ...bearer(TEST_SETTINGS.bffToken), ...signed() }), refusal: (auth) => (['none', 'bff', 'person'].includes(auth) ? undefined : 401) },
  { name: "the gateways' token with a principal", headers: () => ({ ...bearer(TEST_SETTINGS.gatewayToken), ...signed() }), refusal: (auth) => (auth === 'none' || auth === 'gateway' ? undefined : 401) },
  { name: 'the key that signs principals', headers: () => bearer(TEST_SETTINGS.principalKey), refusal: onlyOpen },
  { name: 'an admin under a foreign host', headers: async () => ({ ...bearer(await sessionOf('admin')), host: 'evil.test' }), refusal: () => 421 },
  { name: 'an admin under a loopback name with another port', headers: async () => ({ ...bearer(await sessionOf('admin')), host: 'localhost:1' }), refusal: () => 421 },
  { name: 'an admin from a foreign origin', headers: async () => ({ ...bearer(await sessionOf('admin')), origin: 'http://evil.test' }), refusal: () => 403 },
  { name: 'an admin from an opaque origin', headers: async () => ({ ...bearer(await sessionOf('admin')), origin: 'null' }), refusal: () => 403 },
];

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

it('every route says on purpose who may call it, and asks for that', () => {
  const declared = Object.entries(DECLARED).flatMap(([auth, routes]) => routes.map((route) => `${route}: ${auth}`));
  expect(test.plane.routes.map(({ method, path, auth }) => `${method} ${path}: ${auth}`).toSorted()).toEqual(declared.toSorted());
});

describe.each(CALLERS)('$name', ({ headers, refusal }) => {
  it('is let in where it is declared, and turned away everywhere else', async () => {
    const wrong: string[] = [];
    for (const { method, path, auth } of test.plane.routes) {
      const expected = refusal(auth);
      const status = await statusOf(method, path, await headers());
      const refused = [401, 403, 421].includes(status);
      if (expected === undefined ? refused : status !== expected) wrong.push(`${method} ${path} (${auth}): ${status}, not ${expected ?? 'let in'}`);
    }
    expect(wrong).toEqual([]);
  }, 60_000);
});

it('a path that no route has, or a method that a path has not, answers nothing but 404', async () => {
  const admin = bearer(await sessionOf('admin'));
  for (const [method, path] of [['get', '/api/nothing'], ['post', '/api/tenants'], ['get', '/internal/config'], ['delete', '/docs'], ['get', '/api/tenants/../../etc/passwd']] as const) {
    expect([method, path, await statusOf(method, path, admin)]).toEqual([method, path, 404]);
  }
});

it('a change by cookie needs the page\'s own origin, a change by bearer token does not', async () => {
  const token = await sessionOf('admin');
  const cookie = `sluice_operator=${token}`;
  for (const { method, path } of test.plane.routes.filter((route) => isOperators(route.auth) && route.method !== 'get' && route.path !== '/api/session')) {
    expect([method, path, await statusOf(method, path, { cookie })]).toEqual([method, path, 403]);
    expect([method, path, await statusOf(method, path, bearer(token))]).not.toEqual([method, path, 403]);
  }
}, 60_000);
