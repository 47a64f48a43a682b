import { startTestPlane, type TestPlane } from '../testing/start-test-plane.ts';

let test: TestPlane;
beforeEach(async () => {
  test = await startTestPlane();
});
afterEach(() => test.close());

const PASSWORD = 'a long enough password';

interface Answer {
  status: number;
  etag: string | null;
  text: string;
  body: {
    id: string;
    version: number;
    value: Record<string, unknown>;
    rows: { id: string }[];
    token: string;
    errors?: { path: string }[];
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
const signIn = (user: string, password: string): Promise<Answer> =>
  call('POST', '/api/session', { user, password, bearer: true });
const as = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

describe('an account of an operator', () => {
  it('signs in with its role, and what it may not do is refused', async () => {
    const made = await call('POST', '/api/operators', { name: 'eve', role: 'viewer', password: PASSWORD });
    expect([made.status, made.body.value['role']]).toEqual([201, 'viewer']);
    expect(made.text).not.toContain('scrypt');
    const { body } = await signIn('eve', PASSWORD);
    expect((await call('GET', '/api/session', undefined, as(body.token))).text).toContain('"role":"viewer"');
    expect((await call('GET', '/api/tenants', undefined, as(body.token))).status).toBe(200);
    expect((await call('PUT', '/api/kill-switches/x', { scope: 'all', message: 'm' }, as(body.token))).status).toBe(
      403,
    );
    expect(
      (await call('POST', '/api/operators', { name: 'mallory', role: 'admin', password: PASSWORD }, as(body.token)))
        .status,
    ).toBe(403);
  });

  it('loses its sessions when its role changes, when it is disabled and when it is removed', async () => {
    const made = await call('POST', '/api/operators', { name: 'eve', role: 'admin', password: PASSWORD });
    const first = await signIn('eve', PASSWORD);
    expect((await call('PUT', '/api/operators/eve', { role: 'viewer' })).status).toBe(428);
    const demoted = await call('PUT', '/api/operators/eve', { role: 'viewer' }, { 'if-match': made.etag ?? '' });
    expect(demoted.status).toBe(200);
    expect((await call('GET', '/api/session', undefined, as(first.body.token))).status).toBe(401);
    expect((await call('PUT', '/api/operators/eve', { role: 'admin' }, { 'if-match': made.etag ?? '' })).status).toBe(
      412,
    );
    const second = await signIn('eve', PASSWORD);
    const disabled = await call(
      'PUT',
      '/api/operators/eve',
      { role: 'viewer', enabled: false },
      { 'if-match': demoted.etag ?? '' },
    );
    expect((await call('GET', '/api/session', undefined, as(second.body.token))).status).toBe(401);
    expect((await signIn('eve', PASSWORD)).status).toBe(401);
    expect((await call('DELETE', '/api/operators/eve', undefined, { 'if-match': disabled.etag ?? '' })).status).toBe(
      204,
    );
    expect((await call('GET', '/api/operators/eve')).status).toBe(404);
    expect(test.audited.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['operator.created', 'operator.changed', 'operator.deleted']),
    );
    expect(JSON.stringify(test.audited)).not.toMatch(/scrypt|password"/);
  });

  it('changes its own password with the current one only', async () => {
    await call('POST', '/api/operators', { name: 'eve', role: 'viewer', password: PASSWORD });
    const { body } = await signIn('eve', PASSWORD);
    expect(
      (
        await call(
          'POST',
          '/api/session/password',
          { current: 'wrong', password: 'another long password' },
          as(body.token),
        )
      ).status,
    ).toBe(401);
    expect(
      (await call('POST', '/api/session/password', { current: PASSWORD, password: 'short' }, as(body.token))).status,
    ).toBe(400);
    expect(
      (
        await call(
          'POST',
          '/api/session/password',
          { current: PASSWORD, password: 'another long password' },
          as(body.token),
        )
      ).status,
    ).toBe(204);
    expect((await call('GET', '/api/session', undefined, as(body.token))).status).toBe(401);
    expect((await signIn('eve', PASSWORD)).status).toBe(401);
    expect((await signIn('eve', 'another long password')).status).toBe(200);
  });

  it('never stands in for the one of the environment', async () => {
    expect((await call('POST', '/api/operators', { name: 'ops', role: 'viewer', password: PASSWORD })).status).toBe(
      409,
    );
    expect(
      (await call('POST', '/api/session/password', { current: 'operator-password', password: PASSWORD })).status,
    ).toBe(409);
    await call('POST', '/api/operators', { name: 'eve', role: 'viewer', password: PASSWORD });
    expect((await call('POST', '/api/operators', { name: 'eve', role: 'admin', password: PASSWORD })).status).toBe(409);
    expect((await call('GET', '/api/operators')).body.rows.map(({ id }) => id)).toEqual(['eve']);
  });
});

describe('a person', () => {
  it('is added, listed by workspace, given another role by version, and removed; no password or hash is shown or recorded', async () => {
    const made = await call('POST', '/api/users', {
      email: 'Ada@Acme.test',
      password: PASSWORD,
      roles: { 'acme-prod': 'admin' },
    });
    expect([made.status, made.body.value]).toEqual([201, { email: 'ada@acme.test', roles: { 'acme-prod': 'admin' } }]);
    const path = `/api/users/${made.body.id}`;
    expect((await call('POST', '/api/users', { email: 'ada@acme.test', password: PASSWORD })).status).toBe(409);
    expect((await call('GET', '/api/users?workspace=acme-prod')).body.rows.map(({ id }) => id)).toEqual([made.body.id]);
    expect((await call('GET', '/api/users?workspace=initech-prod')).body.rows).toEqual([]);
    expect((await call('PUT', path, { roles: {} })).status).toBe(428);
    const changed = await call('PUT', path, { roles: { 'acme-prod': 'viewer' } }, { 'if-match': made.etag ?? '' });
    expect([changed.status, changed.etag]).toEqual([200, '"2"']);
    expect((await call('PUT', path, { roles: {} }, { 'if-match': made.etag ?? '' })).status).toBe(412);
    expect((await call('DELETE', path, undefined, { 'if-match': changed.etag ?? '' })).status).toBe(204);
    expect((await call('GET', path)).status).toBe(404);
    const records = test.audited.filter(({ type }) => type.startsWith('user.'));
    expect(records.map(({ type }) => type)).toEqual(['user.created', 'user.changed', 'user.deleted']);
    expect(records[1]).toMatchObject({
      before: { roles: { 'acme-prod': 'admin' } },
      after: { roles: { 'acme-prod': 'viewer' } },
    });
    expect(JSON.stringify(records)).not.toMatch(/scrypt|password/);
  });

  it('has roles that exist in workspaces that exist', async () => {
    const nowhere = await call('POST', '/api/users', {
      email: 'a@b.test',
      password: PASSWORD,
      roles: { nowhere: 'admin' },
    });
    expect([nowhere.status, nowhere.body.errors?.map(({ path }) => path)]).toEqual([400, ['roles.nowhere']]);
    expect(
      (await call('POST', '/api/users', { email: 'a@b.test', password: PASSWORD, roles: { 'acme-prod': 'emperor' } }))
        .status,
    ).toBe(400);
    expect((await call('POST', '/api/users', { email: 'no address', password: PASSWORD })).status).toBe(400);
  });
});
