import { PRINCIPAL_HEADER, systemClock } from '@sluice/contracts';
import { createIds, signPrincipal } from '@sluice/service-kit';
import { eventually } from '@sluice/testing';
import { createPostgresOperatorAccounts, createPostgresPersonAccounts } from './accounts/postgres-accounts.ts';
import { createAudit } from './audit/create-audit.ts';
import { createAuditStore } from './audit/audit-store.ts';
import { createPostgresConfigRepository } from './config/postgres-config-repository.ts';
import { seedConfig } from './config/seed-config.ts';
import { startTestServer, type TestServer } from './db/test-database.ts';
import { createLedger } from './ledger/create-ledger.ts';
import { createPostgresPeople, seedPeople } from './session/postgres-people.ts';
import { createPostgresPersonSessions } from './session/postgres-person-sessions.ts';
import { createPostgresSessionArchive } from './session/postgres-session-archive.ts';
import { demoSeed } from './testing/demo-seed.ts';
import { startTestPlane, TEST_SETTINGS, type TestPlane } from './testing/start-test-plane.ts';

const SLOW_MS = 180_000;
const PASSWORD = 'a long enough password';
/** A server of its own, because it is ended: never the one of TEST_DATABASE_URL. */
const OWN: NodeJS.ProcessEnv = {};

let server: TestServer;
let test: TestPlane;
beforeAll(async () => {
  server = await startTestServer(OWN);
  const { db } = await server.createDatabase();
  const recordAudit = createAudit({ clock: systemClock, ids: createIds({ clock: systemClock }) }).record;
  const repository = createPostgresConfigRepository({ db, recordAudit });
  const seed = demoSeed();
  await seedConfig({ repository, clock: systemClock }, seed);
  await seedPeople(db, seed.users);
  const ledger = createLedger({ db, clock: systemClock });
  test = await startTestPlane({
    repository,
    ledger,
    ledgerHead: ledger.head,
    people: createPostgresPeople({ db }),
    sessionArchive: createPostgresSessionArchive({ db }),
    personSessions: createPostgresPersonSessions({ db, clock: systemClock }),
    operatorAccounts: createPostgresOperatorAccounts({ db, recordAudit }),
    personAccounts: createPostgresPersonAccounts({ db, recordAudit }),
    auditLog: createAuditStore({ db }),
  });
}, SLOW_MS);
afterAll(async () => {
  await test.close();
  await server.stop();
}, SLOW_MS);

interface Answer {
  status: number;
  etag: string | null;
  retryAfter: string | null;
  body: { id: string; type: string; rows: { id: string }[]; value: Record<string, unknown>; token: string };
}
async function call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> {
  const res = await test.call(method, path, body, headers);
  const text = await res.text();
  return {
    status: res.status,
    etag: res.headers.get('etag'),
    retryAfter: res.headers.get('retry-after'),
    body: (text === '' ? {} : JSON.parse(text)) as Answer['body'],
  };
}
const asBff = { authorization: `Bearer ${TEST_SETTINGS.bffToken}` };
const people = (email: string, password: string): Promise<Answer> =>
  call('POST', '/internal/people/session', { email, password }, asBff);
const digest = (n: number): string => String(n).padStart(43, 'd');
const instantIn = (ms: number): string => new Date(Date.now() + ms).toISOString();
const openSession = (n: number, userId: string, lastsMs = 60_000): Promise<Answer> =>
  call(
    'POST',
    '/internal/people/sessions',
    {
      token_digest: digest(n),
      session: {
        session_id: `ses_${n}`,
        user_id: userId,
        created_at: instantIn(n),
        last_used_at: instantIn(n),
        expires_at: instantIn(lastsMs),
        address: null,
        agent: 'test',
      },
    },
    asBff,
  );
const seenSession = async (n: number): Promise<number> =>
  (await call('POST', '/internal/people/sessions/seen', { token_digest: digest(n) }, asBff)).status;

describe('sessions of people in PostgreSQL', () => {
  it(
    'are known until they end, each person ends their own, and a new password or a removed account ends all',
    async () => {
      const add = async (email: string) =>
        (await call('POST', '/api/users', { email, password: PASSWORD, roles: {} })).body.id;
      const [ann, bob] = [await add('ann@acme.test'), await add('bob@acme.test')];
      const inNameOf = (userId: string) => ({
        ...asBff,
        [PRINCIPAL_HEADER]: signPrincipal(
          { kind: 'person', userId, email: 'x@acme.test', roles: {} },
          TEST_SETTINGS.principalKey,
          systemClock,
        ),
      });
      const end = async (userId: string, n: number) =>
        (await call('POST', '/internal/people/sessions/ended', { token_digests: [digest(n)] }, inNameOf(userId)))
          .status;
      for (const n of [1, 2, 3]) expect((await openSession(n, ann)).status).toBe(204);
      expect((await openSession(4, bob)).status).toBe(204);
      expect((await openSession(5, bob, -1)).status).toBe(204);
      expect([await seenSession(1), await seenSession(4), await seenSession(5), await seenSession(6)]).toEqual([
        200, 200, 404, 404,
      ]);
      expect((await call('GET', '/internal/people/sessions', undefined, inNameOf(ann))).body.rows).toMatchObject(
        [3, 2, 1].map((n) => ({ session: { session_id: `ses_${n}` } })),
      );
      expect([await end(bob, 1), await seenSession(1)]).toEqual([204, 200]);
      expect([await end(ann, 1), await seenSession(1), await seenSession(2)]).toEqual([204, 404, 200]);
      await call('PUT', `/api/users/${ann}`, { roles: {} }, { 'if-match': '"1"' });
      expect(await seenSession(2)).toBe(200);
      await call('PUT', `/api/users/${ann}`, { roles: {}, password: 'another long password' }, { 'if-match': '"2"' });
      expect([await seenSession(2), await seenSession(3), await seenSession(4)]).toEqual([404, 404, 200]);
      await call('DELETE', `/api/users/${bob}`, undefined, { 'if-match': '"1"' });
      expect(await seenSession(4)).toBe(404);
      await call('DELETE', `/api/users/${ann}`, undefined, { 'if-match': '"3"' });
    },
    SLOW_MS,
  );

  it(
    'are fifty at most of one person, and the oldest ends for the next',
    async () => {
      const { id } = (await call('POST', '/api/users', { email: 'cy@acme.test', password: PASSWORD, roles: {} })).body;
      for (let n = 100; n <= 150; n += 1) await openSession(n, id);
      expect([await seenSession(100), await seenSession(101), await seenSession(150)]).toEqual([404, 200, 200]);
      await call('DELETE', `/api/users/${id}`, undefined, { 'if-match': '"1"' });
    },
    SLOW_MS,
  );
});

describe('accounts in PostgreSQL', () => {
  it(
    'of people: made, found by workspace and page, changed by version, removed; the changed password signs in',
    async () => {
      const made = await call('POST', '/api/users', {
        email: 'Eve@Acme.test',
        password: PASSWORD,
        roles: { 'acme-prod': 'viewer', 'initech-prod': 'admin' },
      });
      expect([made.status, made.etag]).toEqual([201, '"1"']);
      expect((await people('eve@acme.test', PASSWORD)).status).toBe(200);
      expect((await call('GET', '/api/users?workspace=initech-prod')).body.rows.map(({ id }) => id)).toEqual([
        made.body.id,
      ]);
      expect((await call('GET', '/api/users?q=EVE')).body.rows).toHaveLength(1);
      expect((await call('GET', '/api/users?limit=1')).body.rows).toHaveLength(1);
      const changed = await call(
        'PUT',
        `/api/users/${made.body.id}`,
        { roles: {}, password: 'another long password' },
        { 'if-match': '"1"' },
      );
      expect([changed.status, changed.etag]).toEqual([200, '"2"']);
      expect((await people('eve@acme.test', PASSWORD)).status).toBe(401);
      expect((await people('eve@acme.test', 'another long password')).status).toBe(200);
      expect((await call('PUT', `/api/users/${made.body.id}`, { roles: {} }, { 'if-match': '"1"' })).status).toBe(412);
      expect((await call('POST', '/api/users', { email: 'EVE@acme.test', password: PASSWORD })).status).toBe(409);
      expect((await call('DELETE', `/api/users/${made.body.id}`, undefined, { 'if-match': '"2"' })).status).toBe(204);
      expect((await people('eve@acme.test', 'another long password')).status).toBe(401);
    },
    SLOW_MS,
  );

  it(
    'of operators: sign in with their role, and lose their sessions with a change',
    async () => {
      const made = await call('POST', '/api/operators', { name: 'eve', role: 'viewer', password: PASSWORD });
      expect(made.status).toBe(201);
      expect((await call('POST', '/api/operators', { name: 'eve', role: 'admin', password: PASSWORD })).status).toBe(
        409,
      );
      const { token } = (await call('POST', '/api/session', { user: 'eve', password: PASSWORD, bearer: true })).body;
      const as = { authorization: `Bearer ${token}` };
      expect((await call('GET', '/api/tenants', undefined, as)).status).toBe(200);
      expect((await call('GET', '/api/operators', undefined, as)).status).toBe(403);
      expect(
        (await call('PUT', '/api/operators/eve', { role: 'operator', enabled: false }, { 'if-match': made.etag ?? '' }))
          .status,
      ).toBe(200);
      expect((await call('GET', '/api/tenants', undefined, as)).status).toBe(401);
      expect((await call('POST', '/api/session', { user: 'eve', password: PASSWORD })).status).toBe(401);
    },
    SLOW_MS,
  );

  it(
    'a slug stays with its tenant after its workspace is deleted',
    async () => {
      expect((await call('PUT', '/api/workspaces/acme-old', { tenant: 'acme' })).status).toBe(200);
      expect((await call('DELETE', '/api/workspaces/acme-old', undefined, { 'if-match': '*' })).status).toBe(204);
      expect((await call('PUT', '/api/workspaces/acme-old', { tenant: 'initech' })).status).toBe(400);
      expect((await call('PUT', '/api/workspaces/acme-old', { tenant: 'acme' })).status).toBe(200);
    },
    SLOW_MS,
  );
});

describe('while the database is down', () => {
  it(
    'the configuration is read and streamed, the rest says 503 and why; when it is back everything is, without a restart',
    async () => {
      await test.plane.beat();
      const { body: tenant } = await call('GET', '/api/tenants/acme');
      await server.outage?.begin();

      expect((await call('GET', '/api/tenants')).status).toBe(200);
      expect((await call('GET', '/api/tenants/acme')).body.value).toEqual(tenant.value);
      expect((await call('GET', '/api/workspaces/acme-prod/policy')).status).toBe(200);
      const down: string[] = [
        'GET /api/ledger',
        'GET /api/ledger/summary',
        'GET /api/audit',
        'GET /api/users',
        'GET /api/operators',
      ];
      for (const line of down) {
        const [method = '', path = ''] = line.split(' ');
        const answer = await call(method, path);
        expect([line, answer.status, answer.body.type, answer.retryAfter]).toEqual([
          line,
          503,
          'urn:sluice:problem:database-unavailable',
          '2',
        ]);
      }
      const change = await call('PUT', '/api/tenants/acme', { ...tenant.value, name: 'Renamed' }, { 'if-match': '*' });
      expect([change.status, change.body.type]).toEqual([503, 'urn:sluice:problem:database-unavailable']);
      expect((await people('ada@acme.test', 'correct horse')).status).toBe(503);
      expect((await call('POST', '/api/session', { user: 'eve', password: PASSWORD })).status).toBe(503);
      // The operator of the environment is not locked out by it.
      expect(
        (await call('POST', '/api/session', { user: 'ops', password: TEST_SETTINGS.operator.password, bearer: true }))
          .status,
      ).toBe(200);
      const stream = await fetch(`${test.url}/internal/config/stream?gateway=gw-1`, {
        headers: { authorization: `Bearer ${TEST_SETTINGS.gatewayToken}` },
      });
      expect(new TextDecoder().decode((await stream.body?.getReader().read())?.value)).toMatch(/^event: snapshot/);
      await test.plane.beat();
      expect(test.plane.state().problems.join()).toContain('The database does not answer since');
      expect((await call('GET', '/api/state')).status).toBe(200);

      await server.outage?.end();
      await eventually(async () => expect((await call('GET', '/api/ledger')).status).toBe(200), { timeoutMs: 30_000 });
      const renamed = await call('PUT', '/api/tenants/acme', { ...tenant.value, name: 'Renamed' }, { 'if-match': '*' });
      expect(renamed.status).toBe(200);
      expect((await people('ada@acme.test', 'correct horse')).status).toBe(200);
      await test.plane.beat();
      expect(test.plane.state().problems.join()).not.toContain('The database does not answer');
    },
    SLOW_MS,
  );
});
