import { createSecretBox } from '@sluice/service-kit';
import { startTestPlane, type TestPlane } from '../testing/start-test-plane.ts';

let test: TestPlane;
beforeEach(async () => {
  test = await startTestPlane({}, undefined, { secretBox: createSecretBox([Buffer.alloc(32, 1)]) });
});
afterEach(() => test.close());

interface Row {
  id: string;
  version: number;
  value: Record<string, unknown>;
}
interface Answer {
  status: number;
  etag: string | null;
  text: string;
  body: {
    rows: Row[];
    next_cursor: string | null;
    value: Record<string, unknown>;
    type: string;
    detail: string;
    created: boolean;
    errors: { path: string; message: string }[];
    versions: unknown;
  };
}

async function call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> {
  const res = await test.call(method, path, body, headers);
  const text = await res.text();
  return {
    status: res.status,
    etag: res.headers.get('etag'),
    text,
    body: (text === '' ? {} : JSON.parse(text)) as Answer['body'],
  };
}
const pathsOf = (answer: Answer): string[] => answer.body.errors.map((fault) => fault.path);
const idsOf = (answer: Answer): string[] => answer.body.rows.map(({ id }) => id);

const price = { inputPicoUsd: 1, outputPicoUsd: 2 };
const TENANT = { name: 'New', plan: 'free', limits: {} };
const NEW_ROWS: readonly [path: string, body: Record<string, unknown>, change: Record<string, unknown>][] = [
  ['/api/tenants/new', TENANT, { name: 'Newer' }],
  ['/api/workspaces/new-prod', { tenant: 'acme' }, { status: 'suspended' }],
  [
    '/api/plans/new',
    {
      displayName: 'New',
      policy: { limits: {}, routing: { chain: [{ provider: 'primary' }] } },
      tenantLimits: {},
      priceBook: { version: 1, effectiveFrom: '2026-01-01T00:00:00.000Z', prices: { 'sim-small': price } },
      allotment: { totalTokens: 0, feeNanoUsd: 0 },
    },
    { displayName: 'Newer' },
  ],
  [
    '/api/providers/new',
    {
      displayName: 'New',
      dialect: 'openai',
      baseUrl: 'http://127.0.0.1:1/v1',
      credentials: [{ id: 'new-1', slots: 1 }],
    },
    { region: 'eu' },
  ],
  [
    '/api/models/new',
    {
      displayName: 'New',
      contextTokens: 1,
      maxOutputTokens: 1,
      abilities: ['chat'],
      offers: [{ provider: 'primary', providerModel: 'x' }],
    },
    { tier: 1 },
  ],
  ['/api/cells/new', { kind: 'shared' }, { kind: 'dedicated', tenant: 'acme' }],
  ['/api/kill-switches/new', { scope: 'all', message: 'Stop.' }, { message: 'Stop, please.' }],
];

describe.each(NEW_ROWS)('%s', (path, body, change) => {
  it('is made, read, changed by its version, and deleted; each step is audited with what was there and what is', async () => {
    const made = await call('PUT', path, body, { 'if-none-match': '*' });
    expect([made.status, made.body.created]).toEqual([200, true]);
    const read = await call('GET', path);
    expect([read.status, read.etag, read.body.value]).toEqual([
      200,
      made.etag,
      expect.objectContaining(
        Object.fromEntries(Object.entries(body).filter(([, value]) => typeof value !== 'object')),
      ),
    ]);
    expect((await call('PUT', path, body, { 'if-none-match': '*' })).status).toBe(412);
    const changed = await call('PUT', path, { ...read.body.value, ...change }, { 'if-match': read.etag ?? '' });
    expect([changed.status, changed.body.created]).toEqual([200, false]);
    expect((await call('GET', path)).body.value).toMatchObject(change);
    const stale = await call('PUT', path, read.body.value, { 'if-match': read.etag ?? '' });
    expect([stale.status, stale.etag, stale.body.type]).toEqual([412, changed.etag, 'urn:sluice:problem:stale']);
    expect(stale.body.versions).toEqual({
      yours: Number(read.etag?.replaceAll('"', '')),
      current: Number(changed.etag?.replaceAll('"', '')),
    });
    expect((await call('DELETE', path, undefined, { 'if-match': read.etag ?? '' })).status).toBe(412);
    expect((await call('DELETE', path, undefined, { 'if-match': changed.etag ?? '' })).status).toBe(204);
    expect((await call('GET', path)).status).toBe(404);
    const [made0, changed0, deleted0] = test.repository.audited.slice(-3);
    expect(made0).toMatchObject({ actor: { kind: 'operator', id: 'ops' }, after: expect.any(Object) });
    expect(made0?.before).toBeUndefined();
    expect(changed0).toMatchObject({ before: expect.any(Object), after: expect.objectContaining(change) });
    expect(deleted0).toMatchObject({ before: expect.objectContaining(change) });
    expect(deleted0?.after).toBeUndefined();
  });
});

describe('an edit without If-Match', () => {
  it('is refused with the version that is current, except where the last writer is meant to win', async () => {
    for (const path of [
      '/api/tenants/acme',
      '/api/workspaces/acme-prod',
      '/api/plans/free',
      '/api/providers/primary',
      '/api/models/sim-small',
      '/api/cells/cell-shared-1',
    ]) {
      const read = await call('GET', path);
      const blind = await call('PUT', path, read.body.value);
      expect([path, blind.status, blind.etag]).toEqual([path, 428, read.etag]);
      expect([path, (await call('DELETE', path)).status]).toEqual([path, 428]);
      expect([path, (await call('PUT', path, read.body.value, { 'if-match': '*' })).status]).toEqual([path, 200]);
    }
    const policy = '/api/workspaces/acme-prod/policy';
    expect((await call('PUT', policy, { priority: 'low' })).status).toBe(200);
    expect((await call('PUT', policy, {})).status).toBe(200);
    expect((await call('PUT', policy, {}, { 'if-match': '"1"' })).status).toBe(412);
    expect((await call('PUT', '/api/kill-switches/k', { scope: 'all', message: 'a' })).status).toBe(200);
    expect((await call('PUT', '/api/kill-switches/k', { scope: 'all', message: 'b' })).status).toBe(200);
    expect((await call('DELETE', '/api/kill-switches/k')).status).toBe(204);
  });

  it('If-Match: * makes nothing, and headers that say nothing clear are refused', async () => {
    expect((await call('PUT', '/api/tenants/new', TENANT, { 'if-match': '*' })).status).toBe(412);
    expect((await call('PUT', '/api/tenants/new', TENANT, { 'if-match': '"1", "2"' })).status).toBe(400);
    expect((await call('PUT', '/api/tenants/new', TENANT, { 'if-match': '*', 'if-none-match': '*' })).status).toBe(400);
    expect((await call('PUT', '/api/tenants/new', TENANT, { 'if-none-match': '"1"' })).status).toBe(400);
  });
});

describe('what is in use', () => {
  it.each([
    ['/api/plans/free', 'tenants/initech'],
    ['/api/tenants/acme', 'workspaces/acme-prod'],
    ['/api/workspaces/acme-prod', 'keys/acmeKey00001'],
    ['/api/providers/primary', 'models/sim-large'],
    ['/api/models/sim-small', 'plans/enterprise'],
    ['/api/cells/cell-shared-1', 'workspaces/acme-prod'],
  ])('%s is not deleted, and the answer names %s', async (path, user) => {
    const version = test.plane.store.version;
    const refused = await call('DELETE', path, undefined, { 'if-match': '*' });
    expect([refused.status, refused.body.type]).toEqual([409, 'urn:sluice:problem:in-use']);
    expect(refused.body.detail).toContain(user);
    expect(test.plane.store.version).toBe(version);
  });

  it('a workspace in which somebody has a role is not deleted either', async () => {
    await call('PUT', '/api/workspaces/acme-dev', { tenant: 'acme' });
    const made = await call('POST', '/api/users', {
      email: 'Dev@Acme.test',
      password: 'a long password',
      roles: { 'acme-dev': 'developer' },
    });
    expect(made.status).toBe(201);
    const refused = await call('DELETE', '/api/workspaces/acme-dev', undefined, { 'if-match': '*' });
    expect([refused.status, pathsOf(refused)]).toEqual([409, ['users.dev@acme.test.roles.acme-dev']]);
  });
});

describe('what never changes', () => {
  it("of a workspace: its UUID and its tenant; and its slug is never another tenant's", async () => {
    const read = await call('GET', '/api/workspaces/acme-prod');
    const uuid = await call(
      'PUT',
      '/api/workspaces/acme-prod',
      { ...read.body.value, uuid: '00000000-0000-4000-8000-000000000000' },
      { 'if-match': '*' },
    );
    expect([uuid.status, pathsOf(uuid)]).toEqual([400, ['uuid']]);
    const tenant = await call(
      'PUT',
      '/api/workspaces/acme-prod',
      { ...read.body.value, tenant: 'initech' },
      { 'if-match': '*' },
    );
    expect([tenant.status, pathsOf(tenant)]).toEqual([400, ['tenant']]);
    await call('PUT', '/api/workspaces/old', { tenant: 'acme' });
    await call('DELETE', '/api/workspaces/old', undefined, { 'if-match': '*' });
    const taken = await call('PUT', '/api/workspaces/old', { tenant: 'initech' });
    expect([taken.status, pathsOf(taken)]).toEqual([400, ['slug']]);
    expect((await call('PUT', '/api/workspaces/old', { tenant: 'acme' })).status).toBe(200);
  });

  it("of a deleted tenant: its id, under which its usage is kept, is nobody else's", async () => {
    const umbrella = { ...TENANT, name: 'Umbrella' };
    expect((await call('PUT', '/api/tenants/umbrella', umbrella)).status).toBe(200);
    expect(
      (await call('PUT', '/api/tenants/umbrella', { ...umbrella, name: 'Umbrella Ltd' }, { 'if-match': '*' })).status,
    ).toBe(200);
    expect((await call('DELETE', '/api/tenants/umbrella', undefined, { 'if-match': '*' })).status).toBe(204);
    const again = await call('PUT', '/api/tenants/umbrella', umbrella);
    expect([again.status, pathsOf(again)]).toEqual([400, ['id']]);
    expect(JSON.stringify(again.body)).toContain('choose another');
  });
});

describe('placing a workspace on a cell', () => {
  it("a dedicated cell takes its own tenant's workspaces only, and stays dedicated to it while they are there", async () => {
    expect((await call('PUT', '/api/cells/cell-acme', { kind: 'dedicated', tenant: 'acme' })).status).toBe(200);
    const place = async (slug: string, cellId: string): Promise<Answer> => {
      const { value } = (await call('GET', `/api/workspaces/${slug}`)).body;
      return call('PUT', `/api/workspaces/${slug}`, { ...value, cellId }, { 'if-match': '*' });
    };
    expect((await place('acme-prod', 'cell-acme')).status).toBe(200);
    const other = await place('initech-prod', 'cell-acme');
    expect([other.status, pathsOf(other), other.body.errors[0]?.message]).toEqual([
      400,
      ['cellId'],
      'cell cell-acme is dedicated to another tenant',
    ]);
    expect((await place('acme-prod', 'nowhere')).status).toBe(400);
    const taken = await call(
      'PUT',
      '/api/cells/cell-acme',
      { kind: 'dedicated', tenant: 'initech' },
      { 'if-match': '*' },
    );
    expect([taken.status, pathsOf(taken)]).toEqual([400, ['workspaces.acme-prod.cellId']]);
    expect(pathsOf(await call('PUT', '/api/cells/x', { kind: 'dedicated' }))).toEqual(['tenant']);
    expect(pathsOf(await call('PUT', '/api/cells/x', { kind: 'shared', tenant: 'acme' }))).toEqual(['tenant']);
  });
});

describe('a list', () => {
  it('comes in pages, in order, each row once, and is filtered', async () => {
    for (let i = 0; i < 25; i += 1)
      await call('PUT', `/api/tenants/t${String(i).padStart(2, '0')}`, {
        ...TENANT,
        plan: i % 2 === 0 ? 'free' : 'enterprise',
        name: `Tenant ${i}`,
      });
    const seen: string[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const page: Answer = await call('GET', `/api/tenants?limit=10${cursor === null ? '' : `&cursor=${cursor}`}`);
      seen.push(...idsOf(page));
      cursor = page.body.next_cursor;
      pages += 1;
    } while (cursor !== null);
    expect(pages).toBe(3);
    expect(seen).toEqual([...new Set(seen)].toSorted());
    expect(seen).toHaveLength(27);
    expect(idsOf(await call('GET', '/api/tenants?plan=enterprise&limit=1000')).length).toBe(13);
    expect(idsOf(await call('GET', '/api/tenants?q=TENANT%201&limit=1000')).length).toBe(11);
    expect(idsOf(await call('GET', '/api/workspaces?tenant=initech'))).toEqual(['initech-prod']);
    expect(idsOf(await call('GET', '/api/providers?dialect=anthropic&enabled=true'))).toEqual(['secondary']);
    expect(idsOf(await call('GET', '/api/keys?tenant=acme'))).toEqual(['acmeKey00001']);
    expect(idsOf(await call('GET', '/api/keys?tenant=initech'))).toEqual([]);
  });

  it.each(['?limit=0', '?limit=1001', '?cursor=bogus', '?plann=free', '?plan=a&plan=b'])(
    'refuses %s',
    async (query) => {
      expect((await call('GET', `/api/tenants${query}`)).status).toBe(400);
    },
  );
});

describe('prices', () => {
  it('are replaced as a new version of the price book, and name models that exist', async () => {
    const read = await call('GET', '/api/plans/free/prices');
    expect((await call('PUT', '/api/plans/free/prices', { prices: { 'sim-small': price } })).status).toBe(428);
    const changed = await call(
      'PUT',
      '/api/plans/free/prices',
      { prices: { 'sim-small': price } },
      { 'if-match': read.etag ?? '' },
    );
    expect([changed.status, changed.body]).toEqual([
      200,
      expect.objectContaining({ priceBook: expect.objectContaining({ version: 2, prices: { 'sim-small': price } }) }),
    ]);
    const wrong = await call('PUT', '/api/plans/free/prices', { prices: { gone: price } }, { 'if-match': '*' });
    expect([wrong.status, pathsOf(wrong)]).toEqual([400, ['priceBook.prices.gone']]);
  });
});

describe('a secret', () => {
  const credential = '/api/providers/primary/credentials/primary-1';

  it('that is entered is stored encrypted, reaches gateways encrypted, and never comes back', async () => {
    const before = test.plane.store.version;
    const written = await call(
      'PUT',
      credential,
      { slots: 5, secret: { kind: 'entered', value: 'sk-upstream-0123456789' } },
      { 'if-match': '*' },
    );
    expect(written.status).toBe(200);
    const stored = test.plane.store.snapshot().providers['primary']?.credentials[0]?.secret;
    if (stored?.kind !== 'encrypted') throw new Error('not encrypted');
    expect(createSecretBox([Buffer.alloc(32, 1)]).open(stored.ciphertext)).toBe('sk-upstream-0123456789');
    const shown = [
      written.text,
      (await call('GET', '/api/providers')).text,
      (await call('GET', '/api/providers/primary')).text,
      (await call('GET', '/api/providers/primary/credentials')).text,
      JSON.stringify(test.repository.audited),
      JSON.stringify(test.plane.state()),
    ];
    for (const text of shown) {
      expect(text).not.toContain('sk-upstream');
      expect(text).not.toContain(stored.ciphertext.slice(0, 20));
    }
    const patches = JSON.stringify(test.plane.store.patchesSince(before));
    expect(patches).toContain(stored.ciphertext);
    expect(patches).not.toContain('sk-upstream');
  });

  it('stays when the provider is written as it was read, but goes to no other address', async () => {
    await call(
      'PUT',
      credential,
      { slots: 5, secret: { kind: 'entered', value: 'sk-upstream-0123456789' } },
      { 'if-match': '*' },
    );
    const stored = test.plane.store.snapshot().providers['primary']?.credentials[0]?.secret;
    const { value } = (await call('GET', '/api/providers/primary')).body;
    expect((await call('PUT', '/api/providers/primary', { ...value, region: 'eu' }, { 'if-match': '*' })).status).toBe(
      200,
    );
    expect(test.plane.store.snapshot().providers['primary']?.credentials[0]?.secret).toEqual(stored);
    const stolen = await call(
      'PUT',
      '/api/providers/primary',
      { ...value, baseUrl: 'http://evil.test/v1' },
      { 'if-match': '*' },
    );
    expect([stolen.status, pathsOf(stolen)]).toEqual([400, ['credentials.0.secret']]);
    const borrowed = await call('PUT', '/api/providers/evil', { ...value, id: 'evil', baseUrl: 'http://evil.test/v1' });
    expect([borrowed.status, pathsOf(borrowed)]).toEqual([400, ['credentials.0.secret']]);
    const inUrl = await call(
      'PUT',
      '/api/providers/secondary',
      { ...(await call('GET', '/api/providers/secondary')).body.value, baseUrl: 'http://user:pass@host/v1' },
      { 'if-match': '*' },
    );
    expect([inUrl.status, pathsOf(inUrl)]).toEqual([400, ['baseUrl']]);
  });

  it('is a reference, or refused, where the stack has no data key', async () => {
    const plain = await startTestPlane();
    try {
      const refused = await plain.call(
        'PUT',
        credential,
        { slots: 5, secret: { kind: 'entered', value: 'sk-upstream-0123456789' } },
        { 'if-match': '*' },
      );
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('SLUICE_DATA_KEY')]);
      expect(
        (
          await plain.call(
            'PUT',
            credential,
            { slots: 5, secret: { kind: 'env', name: 'SLUICE_SECRET_X' } },
            { 'if-match': '*' },
          )
        ).status,
      ).toBe(200);
      expect(
        (await plain.call('PUT', credential, { slots: 5, secret: { kind: 'env', name: 'PATH' } }, { 'if-match': '*' }))
          .status,
      ).toBe(400);
    } finally {
      await plain.close();
    }
  });

  it('a credential is added and removed by itself, the last one stays', async () => {
    expect(
      (await call('PUT', '/api/providers/primary/credentials/second', { slots: 1 }, { 'if-match': '*' })).status,
    ).toBe(200);
    expect((await call('DELETE', credential, undefined, { 'if-match': '*' })).status).toBe(204);
    expect(
      (await call('DELETE', '/api/providers/primary/credentials/second', undefined, { 'if-match': '*' })).status,
    ).toBe(409);
    expect(
      (await call('DELETE', '/api/providers/primary/credentials/none', undefined, { 'if-match': '*' })).status,
    ).toBe(404);
  });
});

describe('a key', () => {
  it('is changed in everything but what it is', async () => {
    const read = await call('GET', '/api/keys/acmeKey00001');
    expect(read.text).not.toContain('digest');
    const limits = { requests: { perSecond: 1, burst: 2 } };
    expect((await call('PUT', '/api/keys/acmeKey00001', { name: 'renamed', limits })).status).toBe(428);
    const changed = await call(
      'PUT',
      '/api/keys/acmeKey00001',
      { name: 'renamed', limits, allowModels: ['sim-small'] },
      { 'if-match': read.etag ?? '' },
    );
    expect([changed.status, changed.body.value]).toEqual([
      200,
      expect.objectContaining({ name: 'renamed', workspace: 'acme-prod', allowModels: ['sim-small'] }),
    ]);
    expect(test.plane.store.snapshot().keys['acmeKey00001']?.limits?.requests).toEqual(limits.requests);
    const wrong = await call(
      'PUT',
      '/api/keys/acmeKey00001',
      { name: 'x', allowModels: ['gone'] },
      { 'if-match': '*' },
    );
    expect([wrong.status, pathsOf(wrong)]).toEqual([400, ['allowModels.0']]);
    expect(
      (await call('PUT', '/api/keys/acmeKey00001', { name: 'x', workspace: 'initech-prod' }, { 'if-match': '*' }))
        .status,
    ).toBe(400);
  });
});
