import { Role, ROLE_PERMISSIONS } from '@sluice/contracts';
import { SCOPED_ROUTES } from './route-table.ts';
import type { ScopedRoute } from './routes/scoped-route.ts';
import { startTestBff, type TestBff } from './test-support/start-test-bff.ts';
import { SECRET_FIELD } from './test-support/fake-control-plane.ts';
import { REQUEST_ID } from './test-support/upstream-bodies.ts';

let bff: TestBff;
const tokens = new Map<string, string>();
beforeAll(async () => {
  bff = await startTestBff();
  for (const role of Role.options) tokens.set(role, await bff.signIn(`${role}@acme-prod`));
});
afterAll(() => bff.close());
beforeEach(() => {
  bff.upstream.calls.length = 0;
});

/**
 * Every route of a workspace that the application serves. A new one needs an entry in `BODY` if it takes a body,
 * and in the fake control plane.
 */
const ROUTES: readonly ScopedRoute[] = [
  ...SCOPED_ROUTES,
  { method: 'post', path: '/api/playground', summary: '', permission: 'keys:write' },
];
const concrete = (path: string): string => path.replace(':requestId', REQUEST_ID).replace(/:\w+/g, 'acmeKey00001');
const needed = (path: string): string =>
  ({ '/api/series': '&metric=calls', '/api/billing/statement': '&month=2026-01' })[path] ?? '';
/** What a route needs in its body to do its work. */
const BODY: Record<string, unknown> = {
  'post /api/keys': { name: 'ci' },
  'put /api/policy': { deadlines: { totalMs: 1000 } },
  'post /api/members': { email: 'b@acme.test', role: 'viewer' },
  'put /api/members/:memberId': { role: 'viewer' },
  'put /api/billing': { overage_cap_nanousd: 5 },
  'post /api/webhooks': { url: 'https://hooks.example/' },
  'put /api/webhooks/:webhookId': { url: 'https://hooks.example/' },
  'post /api/playground': { model: 'sim-small', messages: [{ role: 'user', content: 'hi' }] },
};
const bodyOf = (route: ScopedRoute): unknown => BODY[`${route.method} ${route.path}`];
const addressOf = (route: ScopedRoute, slug: string): string =>
  `${concrete(route.path)}?workspace=${slug}${needed(route.path)}`;
const everyCell = ROUTES.flatMap((route) =>
  Role.options.map((role) => ({ route, role, name: `${route.method} ${route.path} as ${role}` })),
);

async function bytesWithoutRequestId(res: Response): Promise<string> {
  return (await res.text()).replace(/"request_id":"req_[0-9A-Z]{26}"/, '"request_id":"…"');
}

describe('every route, every role', () => {
  it.each(everyCell)('$name gives what the role allows in the own workspace', async ({ route, role }) => {
    const res = await bff.ask(tokens.get(role), route.method, addressOf(route, 'acme-prod'), bodyOf(route));
    const allowed = ROLE_PERMISSIONS[role].includes(route.permission);
    // No gateway runs here: the playground gets as far as calling it.
    const good = route.path === '/api/playground' ? 502 : (route.status ?? 200);
    expect(res.status).toBe(allowed ? good : 403);
    expect(bff.upstream.calls.length).toBe(res.ok ? 1 : 0);
  });

  it.each(everyCell)(
    '$name is the same 404 for another’s workspace as for one that does not exist',
    async ({ route, role }) => {
      const bodies = new Set<string>();
      for (const slug of [
        'globex-prod',
        'acme-staging',
        'no-such-place',
        'constructor',
        '__proto__',
        'ACME-PROD',
        'acme-prod/',
        '..%2facme-prod',
        '',
      ]) {
        const res = await bff.ask(tokens.get(role), route.method, addressOf(route, slug), bodyOf(route));
        expect(res.status).toBe(404);
        bodies.add(await bytesWithoutRequestId(res));
      }
      const unknownRoute = await bff.ask(tokens.get(role), 'get', '/api/nothing');
      bodies.add(await bytesWithoutRequestId(unknownRoute));
      expect([...bodies]).toEqual(['{"type":"about:blank","title":"Not found","status":404,"request_id":"…"}']);
      expect(bff.upstream.calls).toEqual([]);
    },
  );

  it.each(ROUTES.map((route) => ({ route, name: `${route.method} ${route.path}` })))(
    '$name asks for a session',
    async ({ route }) => {
      for (const token of [undefined, 'x'.repeat(43)]) {
        expect((await bff.ask(token, route.method, addressOf(route, 'acme-prod'), bodyOf(route))).status).toBe(401);
      }
      // Whether the token is one, the control plane knows; nothing else is asked.
      expect(bff.upstream.calls).toEqual(['POST /internal/people/sessions/seen']);
    },
  );

  it('asks for exactly one workspace', async () => {
    for (const query of ['', '?workspace=acme-prod&workspace=globex-prod', '?workspace[]=acme-prod']) {
      expect((await bff.ask(tokens.get('admin'), 'get', `/api/overview${query}`)).status).toBe(400);
    }
  });
});

describe('what a customer receives', () => {
  const shown = SCOPED_ROUTES.filter((route) => route.view !== undefined);

  it.each(shown.map((route) => ({ route, name: `${route.method} ${route.path}` })))(
    '$name hides every field that nobody chose to show',
    async ({ route }) => {
      const res = await bff.ask(tokens.get('admin'), route.method, addressOf(route, 'acme-prod'), bodyOf(route));
      const text = await res.text();
      expect(res.ok).toBe(true);
      expect(res.headers.get('cache-control')).toBe('private, no-store');
      expect(text).toContain('77');
      for (const hidden of [SECRET_FIELD, 'password_hash', 'credential', 'queue_ms_max', 'maxPoolSharePercent'])
        expect(text).not.toContain(hidden);
    },
  );

  it('passes on a page of a list and a time range, and refuses what is neither', async () => {
    const admin = tokens.get('admin');
    await bff.ask(admin, 'get', '/api/requests?workspace=acme-prod&limit=20&cursor=c2');
    await bff.ask(admin, 'get', '/api/usage?workspace=acme-prod&step=day&from=2026-01-01T00:00:00Z');
    expect(bff.upstream.calls).toEqual([
      'GET /internal/workspaces/acme-prod/requests?limit=20&cursor=c2',
      'GET /internal/workspaces/acme-prod/usage?from=2026-01-01T00%3A00%3A00Z&step=day',
    ]);
    for (const query of ['limit=0', 'limit=1e2', 'limit=201', 'cursor=']) {
      expect((await bff.ask(admin, 'get', `/api/requests?workspace=acme-prod&${query}`)).status).toBe(400);
    }
    expect((await bff.ask(admin, 'get', '/api/usage?workspace=acme-prod&from=yesterday')).status).toBe(400);
  });

  it('has the outcomes of two minutes', async () => {
    const body = (await (await bff.ask(tokens.get('viewer'), 'get', '/api/overview?workspace=acme-prod')).json()) as {
      totals: { outcomes: object };
    };
    expect(body.totals.outcomes).toMatchObject({ ok: 2, shed: 2 });
  });

  it('has no money for a role that may not read cost', async () => {
    const price = await (await bff.ask(tokens.get('viewer'), 'get', '/api/models?workspace=acme-prod')).text();
    expect(price).toContain('"price":null');
    for (const [role, path] of [
      ['viewer', '/api/overview'],
      ['viewer', '/api/usage'],
      ['developer', '/api/requests'],
      ['developer', `/api/requests/${REQUEST_ID}`],
    ] as const) {
      const text = await (await bff.ask(tokens.get(role), 'get', `${path}?workspace=acme-prod`)).text();
      expect(text).toContain('"billed_nanousd":null');
      expect(text).not.toMatch(/77|cost_nanousd/);
    }
  });

  it('is the 404 of everybody when the control plane no longer has the workspace', async () => {
    const token = await bff.signIn('admin@gone-prod');
    const res = await bff.ask(token, 'get', '/api/overview?workspace=gone-prod');
    expect(await bytesWithoutRequestId(res)).toBe(
      '{"type":"about:blank","title":"Not found","status":404,"request_id":"…"}',
    );
  });

  it('was asked in the name of the signed-in person', async () => {
    await bff.ask(tokens.get('viewer'), 'get', '/api/overview?workspace=acme-prod');
    expect(bff.upstream.lastPrincipal).toMatchObject({ email: 'viewer@acme-prod', roles: { 'acme-prod': 'viewer' } });
  });
});

describe('the keys of a workspace', () => {
  it('are listed newest first, with what is expired and what each may do, and without tags or digests', async () => {
    const { rows } = (await (
      await bff.ask(tokens.get('developer'), 'get', '/api/keys?workspace=acme-prod')
    ).json()) as { rows: Record<string, unknown>[] };
    expect(rows.map(({ key_id, expired }) => [key_id, expired])).toEqual([
      ['acmeKey00002', false],
      ['acmeKey00001', true],
    ]);
    expect(rows[0]).toMatchObject({
      allow_models: ['sim-small'],
      allow_addresses: null,
      expires_at: null,
      limits: { requests: { per_second: 1, burst: 1 } },
    });
    expect(Object.keys(rows[0] ?? {})).not.toContain('tags');
  });

  it.each([
    ['no name', {}, 'name'],
    ['a blank name', { name: ' ' }, 'name'],
    ['an address that is none', { name: 'ci', allow_addresses: ['10.0.0.0/99'] }, 'allow_addresses.0'],
    ['an expiry that is no time', { name: 'ci', expires_at: 'tomorrow' }, 'expires_at'],
    [
      'limits, which are not for customers to give',
      { name: 'ci', limits: { requests: { perSecond: 1e6, burst: 1e6 } } },
      '',
    ],
    ['another workspace', { name: 'ci', workspace: 'globex-prod' }, ''],
    ['a key of its own making', { name: 'ci', keyId: 'mine' }, ''],
  ])('are not made with %s, and the control plane is not asked', async (_what, body, path) => {
    const res = await bff.ask(tokens.get('admin'), 'post', '/api/keys?workspace=acme-prod', body);
    const { errors } = (await res.json()) as { errors: { path: string }[] };
    expect([res.status, errors.map((error) => error.path)]).toEqual([400, [path]]);
    expect(bff.upstream.calls).toEqual([]);
  });

  it("that the control plane refuses come back with the field in the console's words, and nothing else", async () => {
    const res = await bff.ask(tokens.get('admin'), 'post', '/api/keys?workspace=acme-prod', {
      name: 'ci',
      allow_models: ['gone'],
    });
    const body = (await res.json()) as { errors: unknown };
    expect(body.errors).toEqual([
      { path: 'allow_models', message: 'there is no model gone' },
      { path: '', message: 'x' },
    ]);
    expect(JSON.stringify(body)).not.toContain(SECRET_FIELD);
  });

  it('are revoked by id; one that is not there, or is no id, is the 404 of everybody', async () => {
    expect(
      (await bff.ask(tokens.get('developer'), 'delete', '/api/keys/acmeKey00001?workspace=acme-prod')).status,
    ).toBe(204);
    expect(bff.upstream.calls).toEqual(['DELETE /internal/workspaces/acme-prod/keys/acmeKey00001']);
    for (const id of ['nosuchkey000', '..%2f..%2fpolicy', 'x y']) {
      const res = await bff.ask(tokens.get('developer'), 'delete', `/api/keys/${id}?workspace=acme-prod`);
      expect(await bytesWithoutRequestId(res)).toBe(
        '{"type":"about:blank","title":"Not found","status":404,"request_id":"…"}',
      );
    }
    expect(bff.upstream.calls).toHaveLength(2);
  });
});
