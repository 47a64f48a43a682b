import { PRINCIPAL_HEADER, systemClock, type Principal } from '@sluice/contracts';
import { exampleOf, signPrincipal, type JsonSchema } from '@sluice/service-kit';
import { unstorableBodies } from '@sluice/testing';
import { z } from 'zod';
import { startTestPlane, TEST_SETTINGS, type TestPlane } from '../testing/start-test-plane.ts';
import type { Route, RouteAuth } from './route.ts';

const ADA: Principal = { kind: 'person', userId: 'u1', email: 'ada@acme.test', roles: { 'acme-prod': 'admin' } };

let test: TestPlane;
beforeAll(async () => {
  test = await startTestPlane();
});
afterAll(() => test.close());

/** Headers with which a route lets a caller in. */
async function headersFor(auth: RouteAuth): Promise<Record<string, string>> {
  const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
  switch (auth) {
    case 'none':
      return {};
    case 'gateway':
      return bearer(TEST_SETTINGS.gatewayToken);
    case 'router':
      return bearer(TEST_SETTINGS.routerToken as string);
    case 'bff':
      return bearer(TEST_SETTINGS.bffToken);
    case 'person':
      return {
        ...bearer(TEST_SETTINGS.bffToken),
        [PRINCIPAL_HEADER]: signPrincipal(ADA, TEST_SETTINGS.principalKey, systemClock),
      };
    default:
      return bearer(await test.plane.sessions.open({ user: 'ada', role: 'admin' }));
  }
}

const pathOf = ({ path }: Route, id: string): string => path.replace(/:[A-Za-z]+/g, id);
const isWrite = ({ method }: Route): boolean => method !== 'get';
const exampleFor = (body: z.ZodType): unknown =>
  exampleOf(z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as JsonSchema);

it('every write route refuses text and numbers that no store can keep with a 400 that names the field, and keeps nothing', async () => {
  const before = JSON.stringify(test.plane.store.snapshot());
  const wrong: string[] = [];
  let tried = 0;
  for (const route of test.plane.routes.filter(isWrite)) {
    if (route.body === undefined) continue;
    const headers = { 'content-type': 'application/json', 'if-match': '*', ...(await headersFor(route.auth)) };
    for (const { field, json } of unstorableBodies(exampleFor(route.body))) {
      tried += 1;
      const res = await fetch(`${test.url}${pathOf(route, 'acme-prod')}`, {
        method: route.method.toUpperCase(),
        headers,
        body: json,
      });
      const text = await res.text();
      const errors = res.status === 400 ? (JSON.parse(text) as { errors?: { path: string }[] }).errors : undefined;
      if (errors?.length !== 1 || errors[0]?.path !== field)
        wrong.push(`${route.method} ${route.path} ${field}: ${res.status} ${text.slice(0, 200)}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(tried).toBeGreaterThan(300);
  expect(JSON.stringify(test.plane.store.snapshot())).toBe(before);
});

it('no route takes NUL in its path or query', async () => {
  const wrong: string[] = [];
  for (const route of test.plane.routes) {
    const headers = await headersFor(route.auth);
    for (const address of [`${pathOf(route, 'acme-prod')}?q=a%00b`, pathOf(route, 'a%00b')]) {
      if (!address.includes('%00')) continue;
      const res = await fetch(`${test.url}${address}`, { method: route.method.toUpperCase(), headers });
      await res.body?.cancel();
      if (res.status !== 400) wrong.push(`${route.method} ${address}: ${res.status}`);
    }
  }
  expect(wrong).toEqual([]);
});

it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
  'no route takes what every object has, %s, for something that is there',
  async (id) => {
    const wrong: string[] = [];
    for (const route of test.plane.routes) {
      if (!route.path.includes(':') || route.streams === true) continue;
      const res = await fetch(`${test.url}${pathOf(route, id)}`, {
        method: route.method.toUpperCase(),
        headers: {
          'if-match': '*',
          ...(await headersFor(route.auth)),
          ...(route.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(route.body === undefined ? {} : { body: JSON.stringify(exampleFor(route.body)) }),
      });
      await res.text();
      if (res.status >= 500 || (res.status < 300 && route.method === 'get' && !ANSWERS_ALL.has(route.path)))
        wrong.push(`${route.method} ${route.path}: ${res.status}`);
    }
    expect(wrong).toEqual([]);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  },
);

/** Asked of a port that has an answer for every queue here. */
const ANSWERS_ALL = new Set(['/api/dlqs/:queue/messages']);
