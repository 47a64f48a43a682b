import { createSecretBox } from '@sluice/service-kit';
import type { PlatformChange, PlatformDocument } from '@sluice/contracts';
import { ACME_KEY, demoSeed } from '../testing/demo-seed.ts';
import { startTestPlane, type TestPlane } from '../testing/start-test-plane.ts';

let test: TestPlane;
beforeEach(async () => {
  test = await startTestPlane({}, undefined, { secretBox: createSecretBox([Buffer.alloc(32, 1)]) });
});
afterEach(() => test.close());

interface Answer {
  status: number;
  text: string;
  body: {
    version: number;
    changes: PlatformChange[];
    undeclared: { table: string; id: string }[];
    errors: { path: string; message: string }[];
    applied: boolean;
  };
}

async function post(what: 'diff' | 'apply', document: unknown, more: object = {}): Promise<Answer> {
  const res = await test.call('POST', `/api/platform/${what}`, { document, ...more });
  const text = await res.text();
  return { status: res.status, text, body: JSON.parse(text) as Answer['body'] };
}
const exported = async (): Promise<PlatformDocument> =>
  (await (await test.call('GET', '/api/platform')).json()) as PlatformDocument;
const steps = ({ body }: Answer): string[] => body.changes.map(({ action, table, id }) => `${action} ${table} ${id}`);

describe('a declared platform', () => {
  it('is brought about as one change, and then there is nothing to do', async () => {
    const document = {
      tenants: [{ id: 'umbrella', name: 'Umbrella', plan: 'free', limits: {} }],
      workspaces: [{ slug: 'umbrella-prod', tenant: 'umbrella', override: { priority: 'low' } }],
      users: [{ email: 'u@umbrella.test', password: 'a long password', roles: { 'umbrella-prod': 'admin' } }],
    };
    const version = test.plane.store.version;
    const looked = await post('diff', document);
    expect(steps(looked)).toEqual([
      'create tenants umbrella',
      'create workspaces umbrella-prod',
      'create users u@umbrella.test',
    ]);
    expect(test.plane.store.version).toBe(version);
    const applied = await post('apply', document, { ifVersion: version });
    expect([applied.status, steps(applied), test.plane.store.version]).toEqual([200, steps(looked), version + 1]);
    const again = await post('apply', document);
    expect([steps(again), test.plane.store.version]).toEqual([[], version + 1]);
    const audited = test.repository.audited.slice(-2).map(({ type, target, actor }) => [type, target.id, actor.id]);
    expect(audited).toEqual([
      ['tenant.created', 'umbrella', 'ops'],
      ['workspace.created', 'umbrella-prod', 'ops'],
    ]);
    expect(applied.text).not.toContain('a long password');
  });

  it('as the seed declares it is what the seed has made', async () => {
    const { users: _users, ...seed } = demoSeed();
    expect(steps(await post('diff', seed))).toEqual([]);
  });

  it('is exported so that applying it changes nothing, without a secret in it', async () => {
    await test.call(
      'PUT',
      '/api/providers/primary/credentials/primary-1',
      { slots: 5, secret: { kind: 'entered', value: 'sk-upstream-0123456789' } },
      { 'if-match': '*' },
    );
    await post('apply', {
      users: [{ email: 'u@umbrella.test', password: 'a long password', roles: { 'acme-prod': 'admin' } }],
    });
    const document = await exported();
    const ciphertext = test.plane.store.snapshot().providers['primary']?.credentials[0]?.secret;
    if (ciphertext?.kind !== 'encrypted') throw new Error('not encrypted');
    for (const secret of ['sk-upstream', ciphertext.ciphertext.slice(0, 16), 'a long password', 'digest', ACME_KEY])
      expect(JSON.stringify(document)).not.toContain(secret);
    const again = await post('apply', document, { prune: true });
    expect([again.status, steps(again), again.body.undeclared]).toEqual([200, [], []]);
    expect(document.plans?.[0]?.policy).not.toHaveProperty('retries');
  });

  it('leaves the quota window that is derived from plan and cap to whoever derives it', async () => {
    const window = {
      id: 'overage-cap',
      meter: 'total_tokens',
      span: { kind: 'calendar', period: 'month' },
      limit: 5,
      mode: 'hard',
      alertAtPercent: [100],
    };
    const acme = test.plane.store.snapshot().tenants['acme'];
    await test.plane.store.change({
      changes: [{ table: 'tenants', id: 'acme', value: { ...acme, limits: { quotas: [window] } } }],
      audit: () => [],
    });
    const { tenants } = await exported();
    expect(JSON.stringify(tenants)).not.toContain('overage-cap');
    expect(steps(await post('apply', { tenants }))).toEqual([]);
    await post('apply', { tenants: tenants?.map((tenant) => ({ ...tenant, name: 'Renamed' })) });
    expect(test.plane.store.snapshot().tenants['acme']).toMatchObject({
      name: 'Renamed',
      limits: { quotas: [window] },
    });
    await test.call('PUT', '/api/tenants/acme', { name: 'Again', plan: 'enterprise', limits: {} }, { 'if-match': '*' });
    expect(test.plane.store.snapshot().tenants['acme']).toMatchObject({ name: 'Again', limits: { quotas: [window] } });
  });

  it('tells what it leaves, and removes it only when that is asked for', async () => {
    const { killSwitches: _none, ...document } = { ...(await exported()), killSwitches: undefined };
    await post('apply', {
      tenants: [...(document.tenants ?? []), { id: 'old', name: 'Old', plan: 'free', limits: {} }],
    });
    const kept = await post('apply', document);
    expect([steps(kept), kept.body.undeclared]).toEqual([[], [{ table: 'tenants', id: 'old' }]]);
    const pruned = await post('apply', document, { prune: true });
    expect(steps(pruned)).toEqual(['delete tenants old']);
    expect(test.plane.store.snapshot().tenants['old']).toBeUndefined();
  });

  it('shows what differs field by field, and of a secret only that it does', async () => {
    const document = await exported();
    const tenants = document.tenants?.map((tenant) =>
      tenant.id === 'acme' ? { ...tenant, limits: { requests: { perSecond: 5, burst: 5 } } } : tenant,
    );
    const looked = await post('diff', { tenants });
    expect(looked.body.changes).toEqual([
      {
        table: 'tenants',
        id: 'acme',
        action: 'update',
        fields: [{ path: 'limits.requests', after: { perSecond: 5, burst: 5 } }],
      },
    ]);
    const providers = document.providers?.map((provider) =>
      provider.id === 'primary'
        ? {
            ...provider,
            credentials: [{ id: 'primary-1', slots: 200, secret: { kind: 'entered', value: 'sk-first-0123456789' } }],
          }
        : provider,
    );
    expect((await post('apply', { providers })).text).not.toContain('sk-first');
    expect(steps(await post('apply', { providers }))).toEqual([]);
    const other = JSON.parse(JSON.stringify(providers).replace('sk-first', 'sk-other')) as unknown;
    const secret = await post('diff', { providers: other });
    expect(secret.body.changes).toEqual([
      {
        table: 'providers',
        id: 'primary',
        action: 'update',
        fields: [{ path: 'credentials', after: 'another stored secret' }],
      },
    ]);
  });

  it.each<[string, object, string]>([
    ['a dangling reference', { tenants: [{ id: 'x', name: 'X', plan: 'gone', limits: {} }] }, 'tenants.0.plan'],
    [
      'a row that is there twice',
      {
        cells: [
          { id: 'x', kind: 'shared' },
          { id: 'x', kind: 'shared' },
        ],
      },
      'cells.1.id',
    ],
    ['a value that cannot be', { workspaces: [{ slug: 'NOT a slug', tenant: 'acme' }] }, 'document.workspaces.0.slug'],
    ['an unknown section', { tenant: [] }, 'document'],
    ['a key that is nowhere', { keys: [{ keyId: 'nothing00001', workspace: 'acme-prod', name: 'x' }] }, 'keys.0.key'],
    [
      'another key under the same id',
      {
        keys: [
          {
            keyId: 'acmeKey00001',
            key: `sk-sluice-acmeKey00001-${'b'.repeat(40)}`,
            workspace: 'acme-prod',
            name: 'demo',
          },
        ],
      },
      'keys.0.key',
    ],
    ['a person without a password', { users: [{ email: 'new@x.test', roles: {} }] }, 'users.0.password'],
    [
      'a role in no workspace',
      { users: [{ email: 'new@x.test', password: 'long enough', roles: { nowhere: 'admin' } }] },
      'users.0.roles.nowhere',
    ],
    [
      'prices that change under the same version',
      {
        plans: [
          { ...demoSeed().plans[0], priceBook: { version: 1, effectiveFrom: '2026-01-01T00:00:00.000Z', prices: {} } },
        ],
      },
      'plans.0.priceBook.version',
    ],
  ])('with %s is refused at its place, and nothing of it is applied', async (_what, document, path) => {
    const version = test.plane.store.version;
    const refused = await post('apply', { ...document });
    expect([refused.status, refused.body.errors.map((fault) => fault.path)]).toEqual([400, [path]]);
    expect(test.plane.store.version).toBe(version);
  });

  it('that was compared with an older configuration is not applied', async () => {
    const { version } = (await post('diff', {})).body;
    await test.call('PUT', '/api/kill-switches/k', { scope: 'all', message: 'm' });
    expect((await post('apply', { cells: [{ id: 'x', kind: 'shared' }] }, { ifVersion: version })).status).toBe(412);
  });

  it('does not remove a workspace in which somebody has a role', async () => {
    await post('apply', {
      workspaces: [...((await exported()).workspaces ?? []), { slug: 'old', tenant: 'acme' }],
      users: [{ email: 'u@x.test', password: 'long enough', roles: { old: 'admin' } }],
    });
    const workspaces = (await exported()).workspaces?.filter(({ slug }) => slug !== 'old');
    const refused = await post('apply', { workspaces }, { prune: true });
    expect([refused.status, refused.body.errors]).toEqual([
      400,
      [{ path: 'workspaces.old', message: 'u@x.test has a role in it; take it away first' }],
    ]);
    expect((await post('apply', { workspaces, users: [] }, { prune: true })).status).toBe(200);
  });
});

describe('bodies', () => {
  it('are bounded by their route, and not read of callers who may not call it', async () => {
    const big = 'x'.repeat(300 * 1024);
    expect((await test.call('PUT', '/api/tenants/x', { name: big })).status).toBe(413);
    expect((await test.call('PUT', '/api/tenants/x', { name: big }, { authorization: 'Bearer nobody' })).status).toBe(
      401,
    );
    expect((await test.call('POST', '/api/session', { user: 'x', password: 'y'.repeat(10_000) })).status).toBe(413);
    expect(
      (
        await post('diff', {
          tenants: [{ id: 'x', name: 'X', plan: 'free', limits: {} }],
          workspaces: Array.from({ length: 5_000 }, (_, i) => ({ slug: `w-${i}`, tenant: 'x' })),
        })
      ).status,
    ).toBe(200);
  });
});

describe('a person who is declared in another tenant', () => {
  const ADA = 'ada@acme.test';
  const rolesNow = async () => (await exported()).users?.find(({ email }) => email === ADA)?.roles;
  const declare = (roles: Record<string, string>, more: object = {}) =>
    post('apply', { users: [{ email: ADA, roles, ...more }] });
  /** What the operator has to hand over. */
  const offers = ({ body }: Answer) =>
    (body as unknown as { invitations: { workspace: string; invitation: string }[] }).invitations;

  beforeEach(async () => {
    const workspace = (slug: string, tenant: string, n: number) => ({
      slug,
      tenant,
      uuid: `7b6b7f4e-8a55-4d4e-9d0b-0a3c1d2e3f5${n}`,
    });
    const workspaces = [workspace('acme-staging', 'acme', 1), workspace('initech-staging', 'initech', 2)];
    expect((await post('apply', { workspaces })).status).toBe(200);
    // Whoever declares an account with its password says who it belongs to: all of its roles hold, in any tenant.
    await declare({ 'acme-prod': 'admin' }, { password: 'a long password' });
    expect(await rolesNow()).toEqual({ 'acme-prod': 'admin' });
  });

  it('has no role there until the owner has taken the invitation, and is not invited twice', async () => {
    const wanted = { 'acme-prod': 'viewer', 'initech-prod': 'admin', 'initech-staging': 'viewer' };
    const applied = await declare(wanted);
    expect([applied.status, await rolesNow()]).toEqual([200, { 'acme-prod': 'viewer' }]);
    expect(offers(applied)).toMatchObject([
      { workspace: 'initech-prod', invitation: `secret of ${ADA} for initech-prod` },
      { workspace: 'initech-staging' },
    ]);
    const again = await declare(wanted);
    expect([steps(again), offers(again)]).toEqual([[], []]);
    expect(JSON.stringify(await exported())).not.toContain('secret of');
  });

  it('has a role in another workspace of a tenant of theirs at once', async () => {
    await declare({ 'acme-prod': 'admin', 'acme-staging': 'viewer' });
    expect(await rolesNow()).toEqual({ 'acme-prod': 'admin', 'acme-staging': 'viewer' });
  });

  it('has no role there by the operator API either, but with a new password, which says who the owner is', async () => {
    const [user] = ((await (await test.call('GET', '/api/users?q=ada')).json()) as { rows: { id: string }[] }).rows;
    const roles = { 'acme-prod': 'admin', 'initech-prod': 'admin' };
    const put = async (body: object) => {
      const res = await test.call('PUT', `/api/users/${user?.id}`, body, { 'if-match': '*' });
      return (await res.json()) as { value: { roles: object }; invitations: { workspace: string }[] };
    };
    const offered = await put({ roles });
    expect([offered.value.roles, offered.invitations.map(({ workspace }) => workspace)]).toEqual([
      { 'acme-prod': 'admin' },
      ['initech-prod'],
    ]);
    const reset = await put({ roles, password: 'a password of the owner' });
    expect([reset.value.roles, reset.invitations]).toEqual([roles, []]);
  });
});
