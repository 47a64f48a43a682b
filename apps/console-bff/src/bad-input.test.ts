import { PRINCIPAL_HEADER, type Principal } from '@sluice/contracts';
import { signPrincipal } from '@sluice/service-kit';
import { rawRequest } from '@sluice/testing';
import { unstorableBodies } from '@sluice/testing';
import { SCOPED_ROUTES } from './route-table.ts';
import { CHECKED_EVERY_MS, SESSION_TTL_MS } from './sessions.ts';
import { INVITATION, PRINCIPAL_KEY, STALE } from './test-support/fake-control-plane.ts';
import { ALLOWED_ORIGIN, startTestBff, type TestBff } from './test-support/start-test-bff.ts';
import { REQUEST_ID } from './test-support/upstream-bodies.ts';

let bff: TestBff;
let admin: string;
beforeEach(async () => {
  bff = await startTestBff();
  admin = await bff.signIn('admin@acme-prod');
  bff.upstream.calls.length = 0;
});
afterEach(() => bff.close());

const NOT_FOUND = '{"type":"about:blank","title":"Not found","status":404,"request_id":"…"}';
const bytes = async (res: Response): Promise<string> =>
  (await res.text()).replace(/"request_id":"req_[0-9A-Z]{26}"/, '"request_id":"…"');
const overview = (token?: string, headers: Record<string, string> = {}) =>
  bff.ask(token, 'get', '/api/overview?workspace=acme-prod', undefined, headers);

describe('a session', () => {
  it('that expired, was forged, is of somebody else’s making, or was ended and is replayed, opens nothing', async () => {
    const principal: Principal = { kind: 'person', userId: 'u1', email: 'a@b.test', roles: { 'acme-prod': 'admin' } };
    const principalToken = signPrincipal(principal, PRINCIPAL_KEY, bff.clock);
    for (const forged of [
      'x'.repeat(43),
      `${admin}x`,
      admin.slice(0, -1),
      admin.toUpperCase(),
      principalToken,
      '',
      'null',
      'undefined',
    ])
      expect([forged, (await overview(forged)).status]).toEqual([forged, 401]);
    expect((await overview(undefined, { [PRINCIPAL_HEADER]: principalToken })).status).toBe(401);
    expect((await overview(undefined, { cookie: `sluice_operator=${admin}` })).status).toBe(401);
    const ended = await bff.signIn('admin@acme-prod');
    await bff.ask(ended, 'delete', '/api/session');
    expect((await overview(ended)).status).toBe(401);
    bff.clock.advance(SESSION_TTL_MS);
    expect((await overview(admin)).status).toBe(401);
    expect(bff.upstream.calls.filter((call) => call.includes('/workspaces/'))).toEqual([]);
  });

  it('is listed and revoked by its owner only; another’s is a 404 like one that does not exist', async () => {
    const other = await bff.signIn('admin@acme-prod');
    const list = async (token: string) =>
      (
        (await (await bff.ask(token, 'get', '/api/sessions')).json()) as {
          rows: { session_id: string; current: boolean }[];
        }
      ).rows;
    const rows = await list(admin);
    expect(rows.map(({ current }) => current)).toEqual([false, true]);
    expect(JSON.stringify(rows)).not.toContain(other);
    const gus = await bff.signIn('admin@globex-prod');
    const [target] = rows;
    const foreign = await bff.ask(gus, 'delete', `/api/sessions/${target?.session_id}`);
    const missing = await bff.ask(gus, 'delete', '/api/sessions/ses_nothing');
    expect([foreign.status, await bytes(foreign)]).toEqual([404, NOT_FOUND]);
    expect(await bytes(missing)).toBe(NOT_FOUND);
    expect((await overview(other)).status).toBe(200);
    expect((await bff.ask(admin, 'delete', `/api/sessions/${target?.session_id}`)).status).toBe(204);
    expect((await overview(other)).status).toBe(401);
    const [third] = [await bff.signIn('admin@acme-prod')];
    expect(await (await bff.ask(admin, 'delete', '/api/sessions')).json()).toEqual({ ended: 1 });
    expect([(await overview(third)).status, (await overview(admin)).status, (await overview(gus)).status]).toEqual([
      401, 200, 404,
    ]);
  });

  it('loses a role that was taken away, and ends with the account, ten seconds later at most', async () => {
    bff.upstream.roles = { 'acme-prod': 'viewer' };
    expect((await bff.ask(admin, 'get', '/api/keys?workspace=acme-prod')).status).toBe(200);
    bff.clock.advance(CHECKED_EVERY_MS);
    expect((await bff.ask(admin, 'get', '/api/keys?workspace=acme-prod')).status).toBe(403);
    bff.upstream.roles = {};
    bff.clock.advance(CHECKED_EVERY_MS);
    expect((await overview(admin)).status).toBe(404);
    bff.upstream.roles = undefined;
    bff.clock.advance(CHECKED_EVERY_MS);
    expect((await overview(admin)).status).toBe(401);
    bff.upstream.roles = { 'acme-prod': 'admin' };
    expect((await overview(admin)).status).toBe(401);
  });

  it('goes on with the roles it had while the control plane is away', async () => {
    bff.clock.advance(CHECKED_EVERY_MS);
    bff.upstream.failWith = { status: 500, body: 'x' };
    expect((await overview(admin)).status).toBe(502);
    bff.upstream.failWith = undefined;
    expect((await overview(admin)).status).toBe(200);
  });
});

describe('a page of another site', () => {
  const write = (headers: Record<string, string>) =>
    bff.ask(admin, 'post', '/api/keys?workspace=acme-prod', { name: 'ci' }, headers);

  it.each([
    { origin: 'https://evil.test' },
    { origin: 'null' },
    { origin: `${ALLOWED_ORIGIN}.evil.test` },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('writes nothing with the person’s session (%j)', async (headers) => {
    expect((await write(headers as unknown as Record<string, string>)).status).toBe(403);
    expect(bff.upstream.calls).toEqual([]);
  });

  it('cannot write with a form either: only JSON is a body', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const res = await fetch(`${bff.url}/api/keys?workspace=acme-prod`, {
        method: 'POST',
        headers: { authorization: `Bearer ${admin}`, 'content-type': type },
        body: '{"name":"ci"}',
      });
      expect([type, res.status]).toEqual([type, 400]);
    }
    expect(bff.upstream.calls).toEqual([]);
  });
});

describe('headers', () => {
  it('of a caller do not travel to the control plane, and cannot be smuggled in by a parameter', async () => {
    await overview(admin, {
      [PRINCIPAL_HEADER]: 'forged',
      'x-forwarded-for': '1.2.3.4',
      'x-sluice-act-workspace': 'globex-prod',
    });
    expect(bff.upstream.lastPrincipal).toMatchObject({ email: 'admin@acme-prod' });
    expect(bff.upstream.calls).toEqual(['GET /internal/workspaces/acme-prod/overview']);
    for (const path of [
      '/api/overview?workspace=acme-prod%0d%0ax-evil:%201',
      '/api/requests?workspace=acme-prod&feature=a%0d%0ax-evil:%201',
      '/api/keys/acmeKey00001%0d%0a?workspace=acme-prod',
    ]) {
      const res = await bff.ask(admin, path.includes('keys') ? 'delete' : 'get', path);
      expect(res.headers.has('x-evil')).toBe(false);
    }
    expect(bff.upstream.calls.join('\n')).not.toMatch(/[\r]|x-evil: /);
  });

  it('that are doubled or broken are refused, not guessed at', async () => {
    const port = Number(new URL(bff.url).port);
    const twice = await rawRequest(
      port,
      `GET /api/session HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${admin}\r\nauthorization: Bearer other\r\nconnection: close\r\n\r\n`,
    );
    expect([200, 400, 401]).toContain(twice.status);
    const broken = await rawRequest(port, 'GET /api/session HTTP/1.1\r\nhost: x\r\nbad header: 1\r\n\r\n');
    expect(broken.status).toBe(400);
  });
});

describe('ids of others', () => {
  it('in every path are a 404 like what does not exist, and reach the control plane only below the person’s own workspace', async () => {
    for (const route of SCOPED_ROUTES.filter(({ path }) => path.includes(':'))) {
      for (const id of [
        '..',
        '..%2f..%2fglobex-prod%2foverview',
        'globex%2Fkeys',
        '%00',
        'a b',
        '%E0%A4%A',
        'x'.repeat(300),
      ]) {
        const res = await bff.ask(
          admin,
          route.method,
          `${route.path.replace(/:\w+/, id)}?workspace=acme-prod`,
          route.method === 'get' ? undefined : { role: 'viewer' },
        );
        expect([route.path, id, [400, 404].includes(res.status)]).toEqual([route.path, id, true]);
      }
    }
    expect(bff.upstream.calls.filter((call) => !call.includes('/internal/workspaces/acme-prod/'))).toEqual([]);
    expect(bff.upstream.calls.join()).not.toMatch(/globex|\.\./);
  });

  it('in a query choose nothing: parameters that nobody knows, and workspaces by another name, are refused', async () => {
    for (const extra of [
      'tenant=globex',
      'tenant_id=globex',
      'workspace_id=1',
      'slug=globex-prod',
      'workspace=globex-prod',
      'limit=1&limit=2',
      'userId=u2',
    ]) {
      for (const path of [
        '/api/overview',
        '/api/usage',
        '/api/requests',
        '/api/keys',
        '/api/billing',
        '/api/members',
      ]) {
        expect([path, extra, (await bff.ask(admin, 'get', `${path}?workspace=acme-prod&${extra}`)).status]).toEqual([
          path,
          extra,
          400,
        ]);
      }
    }
    expect(bff.upstream.calls).toEqual([]);
  });
});

describe('a body', () => {
  const bodies: Record<string, [string, Record<string, unknown>]> = {
    'post /api/keys': ['/api/keys', { name: 'ci' }],
    'put /api/policy': ['/api/policy', { deadlines: { totalMs: 1000 } }],
    'post /api/members': ['/api/members', { email: 'b@acme.test', role: 'viewer' }],
    'put /api/members/:memberId': ['/api/members/u2', { role: 'viewer' }],
    'put /api/billing': ['/api/billing', { overage_cap_nanousd: 5 }],
    'post /api/webhooks': ['/api/webhooks', { url: 'https://hooks.example/' }],
    'put /api/webhooks/:webhookId': ['/api/webhooks/wh_1', { url: 'https://hooks.example/' }],
  };
  const withBody = SCOPED_ROUTES.filter(({ body }) => body !== undefined).map((route) => ({
    route,
    name: `${route.method} ${route.path}`,
  }));

  it.each(withBody)('$name takes no field that it does not offer, whichever it is', async ({ route, name }) => {
    const [path, body] = bodies[name] ?? ['', {}];
    expect(path).not.toBe('');
    for (const field of [
      'workspace',
      'tenant',
      'tenant_id',
      'id',
      'roles',
      'admin',
      'userId',
      'maxPoolSharePercent',
      'internal_margin_usd',
      'constructor',
    ]) {
      const res = await bff.ask(
        admin,
        route.method,
        `${path}?workspace=acme-prod`,
        { ...body, [field]: 'globex-prod' },
        { 'if-match': '"7"' },
      );
      expect([name, field, res.status]).toEqual([name, field, 400]);
    }
    for (const text of ['[]', '"x"', '{', '{"name":']) {
      const res = await fetch(`${bff.url}${path}?workspace=acme-prod`, {
        method: route.method.toUpperCase(),
        headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
        body: text,
      });
      expect([name, text, res.status]).toEqual([name, text, 400]);
    }
    expect(bff.upstream.calls).toEqual([]);
  });

  it.each(withBody)('$name takes nothing that no store can keep', async ({ route, name }) => {
    const [path, body] = bodies[name] ?? ['', {}];
    for (const { field, json } of unstorableBodies(body)) {
      const res = await fetch(`${bff.url}${path}?workspace=acme-prod`, {
        method: route.method.toUpperCase(),
        headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json', 'if-match': '"7"' },
        body: json,
      });
      expect([res.status, await res.json()]).toEqual([
        400,
        expect.objectContaining({ errors: [{ path: field, message: expect.any(String) }] }),
      ]);
    }
    expect(bff.upstream.calls).toEqual([]);
  });

  it('is passed on field by field, in the person’s own workspace', async () => {
    await bff.ask(admin, 'post', '/api/members?workspace=acme-prod', { email: ' B@Acme.test ', role: 'viewer' });
    expect([bff.upstream.calls.at(-1), bff.upstream.lastBody]).toEqual([
      'POST /internal/workspaces/acme-prod/members',
      { email: 'b@acme.test', role: 'viewer' },
    ]);
  });
});

describe('a time range', () => {
  it.each([
    'from=0',
    'from=yesterday',
    'from=2026-01-01',
    'to=Infinity',
    'from=2026-13-01T00:00:00Z',
    'step=century',
    'by=tenant',
    'points=1000000',
    'points=-1',
    'limit=1e3',
    'month=2026-13',
    'metric=margin',
  ])('that is none (%s) is refused here', async (query) => {
    const path = query.startsWith('month')
      ? '/api/billing/statement'
      : query.startsWith('points') || query.startsWith('metric')
        ? '/api/series'
        : query.startsWith('limit')
          ? '/api/requests'
          : '/api/usage';
    expect((await bff.ask(admin, 'get', `${path}?workspace=acme-prod&${query}`)).status).toBe(400);
    expect(bff.upstream.calls).toEqual([]);
  });
});

describe('an edit of an old version', () => {
  it('gives the base, both versions and what conflicts, and nothing that nobody chose to show', async () => {
    const res = await bff.ask(
      admin,
      'put',
      '/api/policy?workspace=acme-prod',
      { deadlines: { totalMs: 1000 } },
      { 'if-match': STALE },
    );
    const text = await res.text();
    expect([res.status, res.headers.get('etag'), res.headers.get('content-type')]).toEqual([
      412,
      '"7"',
      'application/problem+json; charset=utf-8',
    ]);
    expect(JSON.parse(text)).toMatchObject({
      status: 412,
      base: { version: 6, override: {} },
      current: { version: 7 },
      yours: { deadlines: { totalMs: 1000 } },
      conflicts: ['deadlines.totalMs'],
    });
    expect(text).not.toContain('internal_margin_usd');
  });

  it('of billing is a 412 as well', async () => {
    expect(
      (
        await bff.ask(
          admin,
          'put',
          '/api/billing?workspace=acme-prod',
          { overage_cap_nanousd: 5 },
          { 'if-match': STALE },
        )
      ).status,
    ).toBe(412);
  });
});

describe('an invitation', () => {
  it('is taken without a session, and a wrong one says nothing of whose it is', async () => {
    const take = (invitation: string) =>
      bff.ask(undefined, 'post', '/api/invitations', { invitation, password: 'a long password' });
    expect((await take(INVITATION)).status).toBe(204);
    expect((await take('x'.repeat(43))).status).toBe(401);
    expect(
      (await bff.ask(undefined, 'post', '/api/invitations', { invitation: INVITATION, password: 'short' })).status,
    ).toBe(400);
  });
});

describe('an export', () => {
  it('is CSV in which no text is a formula', async () => {
    const res = await bff.ask(admin, 'get', '/api/usage?workspace=acme-prod&format=csv');
    expect([res.headers.get('content-type'), res.headers.get('content-disposition')]).toEqual([
      'text/csv; charset=utf-8',
      'attachment; filename="usage-acme-prod-model.csv"',
    ]);
    expect((await res.text()).split('\r\n')[1]).toBe("'=1+1,,3,13,8,77,3,13,8,77");
    const statement = await (
      await bff.ask(admin, 'get', '/api/billing/statement?workspace=acme-prod&month=2026-01&format=csv')
    ).text();
    expect(statement.split('\r\n').at(-2)).toBe(
      'total,2026-01,2026-01-01T00:00:00.000Z,2026-02-01T00:00:00.000Z,6,77,sum',
    );
  });

  it('of a role that may not read cost has none', async () => {
    const text = await (
      await bff.ask(await bff.signIn('viewer@acme-prod'), 'get', '/api/usage?workspace=acme-prod&format=csv')
    ).text();
    expect(text).not.toContain('77');
  });
});

describe('one request', () => {
  it('is read by its id, and what is no id is not asked for', async () => {
    expect((await bff.ask(admin, 'get', `/api/requests/${REQUEST_ID}?workspace=acme-prod`)).status).toBe(200);
    expect((await bff.ask(admin, 'get', '/api/requests/req_nope?workspace=acme-prod')).status).toBe(404);
    expect(bff.upstream.calls).toHaveLength(1);
  });
});
