import { request } from 'node:http';
import { z } from 'zod';
import { exampleOf, type JsonSchema } from '@sluice/service-kit';
import { startTestPlane, type TestPlane } from '../testing/start-test-plane.ts';

let test: TestPlane;
beforeAll(async () => {
  test = await startTestPlane();
});
afterAll(() => test.close());

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

describe('every route of the table', () => {
  it('is described: /openapi.json names each path and method', async () => {
    const description = (await (await fetch(`${test.url}/openapi.json`)).json()) as {
      openapi: string;
      paths: Record<string, Record<string, unknown>>;
    };
    expect(description.openapi).toMatch(/^3\.1/);
    for (const { method, path } of test.plane.routes) {
      expect(Object.keys(description.paths[path.replace(/:([A-Za-z]+)/g, '{$1}')] ?? {})).toContain(method);
    }
  });
});

it('the description holds together: operations have names of their own, references lead somewhere, parameters of paths are declared', async () => {
  interface Operation {
    operationId: string;
    parameters: { name: string; in: string }[];
    responses: Record<string, unknown>;
    requestBody?: { content: Record<string, { schema?: object }> };
  }
  const document = (await (await fetch(`${test.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>;
  };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, operation })),
  );
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
  for (const { path, operation } of operations) {
    const declared = operation.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
    expect([path, declared]).toEqual([path, [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])]);
    expect(operation.responses['default']).toBeDefined();
    if (operation.requestBody !== undefined)
      expect([path, Object.keys(operation.requestBody.content['application/json']?.schema ?? {}).length > 0]).toEqual([
        path,
        true,
      ]);
  }
  for (const [, reference = ''] of JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)) {
    const target = reference
      .replace(/^#\//, '')
      .split('/')
      .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], document);
    expect([reference, target !== undefined]).toEqual([reference, true]);
  }
  expect(document.paths['/api/tenants/{id}']?.['put']?.responses).toHaveProperty('428');
});

describe('the page of the API', () => {
  it('has each route once under its area with who may call it, and needs nothing from anywhere', async () => {
    const response = await fetch(`${test.url}/docs`);
    const page = await response.text();
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
    expect(page.match(/<details /g)).toHaveLength(test.plane.routes.length);
    expect(page).toMatch(/<section id="kill-switches">.*Operators of the roles operator and admin\./s);
    expect(page).not.toMatch(/<script| src=|<link/);
  });

  it('shows bodies that their routes take', () => {
    const refused = test.plane.routes.flatMap(({ method, path, body }) =>
      body === undefined ||
      body.safeParse(exampleOf(z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as JsonSchema)).success
        ? []
        : [`${method} ${path}`],
    );
    expect(refused).toEqual([]);
  });
});

describe('metrics of the API', () => {
  it('name the route of the table, never what was asked for', async () => {
    const told: [string, string, number][] = [];
    const own = await startTestPlane({}, undefined, {
      onAnswer: ({ method, path }, status) => void told.push([method, path, status]),
    });
    try {
      await (await own.call('GET', '/api/tenants/no-such-tenant')).text();
      await (await own.call('GET', '/api/no-such-route')).text();
      expect(told).toEqual([
        ['post', '/api/session', 200],
        ['get', '/api/tenants/:id', 404],
      ]);
    } finally {
      await own.close();
    }
  });
});

describe('the operator cookie', () => {
  it("reads, but changes nothing without the page's own origin", async () => {
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
