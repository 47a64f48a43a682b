import { sql } from 'drizzle-orm';
import { createIds } from '@sluice/service-kit';
import { systemClock } from '@sluice/contracts';
import { createAudit } from '../audit/create-audit.ts';
import type { Database } from '../db/open-database.ts';
import { startTestServer, type TestServer } from '../db/test-database.ts';
import { createOperatorSessions } from '../session/operator-sessions.ts';
import { createPasswordChecks } from '../session/password-checks.ts';
import { createPeople } from '../session/people.ts';
import { createPostgresPeople, seedPeople } from '../session/postgres-people.ts';
import { createPostgresSessionArchive } from '../session/postgres-session-archive.ts';
import { demoSeed } from '../testing/demo-seed.ts';
import { MIGRATIONS } from '../db/migrations.ts';
import { TenantRetiredError, type AuditInput } from './config-repository.ts';
import { createConfigStore, type ConfigStore } from './config-store.ts';
import { createPostgresConfigRepository } from './postgres-config-repository.ts';
import { seedConfig } from './seed-config.ts';

const audit = createAudit({ clock: systemClock, ids: createIds({ clock: systemClock }) });
const note: AuditInput = {
  type: 'key.revoked',
  actor: { kind: 'operator', id: 'ops' },
  target: { kind: 'keys', id: 'acmeKey00001' },
  tenant_id: 'acme',
};

/** A server that starts and hashes on a busy machine; nothing here is a speed test. */
const SLOW_MS = 120_000;

let server: TestServer;
let database: Database;
beforeAll(async () => {
  server = await startTestServer();
}, SLOW_MS);
afterAll(() => server.stop());
beforeEach(async () => {
  database = await server.createDatabase();
}, SLOW_MS);

const repositoryOf = (): ReturnType<typeof createPostgresConfigRepository> =>
  createPostgresConfigRepository({ db: database.db, recordAudit: audit.record });

async function startStore(): Promise<ConfigStore> {
  await seedConfig({ repository: repositoryOf(), clock: systemClock }, demoSeed());
  const store = createConfigStore({ repository: repositoryOf() });
  await store.load();
  return store;
}

async function outboxTypes(): Promise<string[]> {
  const found = await database.db.execute<{ type: string }>(
    sql`select event ->> 'type' as type from event_outbox order by id`,
  );
  return found.rows.map((row) => row.type);
}

describe('configuration in PostgreSQL', () => {
  it(
    'is after a restart what it was before, row versions too',
    async () => {
      const store = await startStore();
      await store.change({ changes: [{ table: 'keys', id: 'acmeKey00001' }], audit: () => [note] });
      await store.change({
        changes: [{ table: 'killSwitches', id: 'k', value: { id: 'k', scope: 'all', message: 'm' } }],
        audit: () => [],
      });
      const again = await startStore();
      expect(again.snapshot()).toEqual(store.snapshot());
      expect(again.rowVersion('killSwitches', 'k')).toBe(3);
      expect(again.rowVersion('keys', 'acmeKey00001')).toBeUndefined();
    },
    SLOW_MS,
  );

  it(
    'has an audit record in the outbox exactly when the change is stored',
    async () => {
      const store = await startStore();
      await store.change({ changes: [{ table: 'keys', id: 'acmeKey00001' }], audit: () => [note] });
      expect(await outboxTypes()).toEqual(['config.seeded', 'key.revoked']);
      const broken = createPostgresConfigRepository({
        db: database.db,
        recordAudit: () => Promise.reject(new Error('no audit')),
      });
      await expect(broken.commit({ version: 3, changes: [{ table: 'keys', id: 'x' }] }, [note])).rejects.toThrow(
        'no audit',
      );
      const change = { table: 'killSwitches' as const, id: 'k', value: { id: 'k', scope: 'all', message: 'm' } };
      expect((await store.change({ changes: [change], audit: () => [] })).version).toBe(3);
      expect(await outboxTypes()).toEqual(['config.seeded', 'key.revoked']);
    },
    SLOW_MS,
  );

  it(
    'gives the id of a deleted tenant to nobody, nor one that was deleted before this was remembered',
    async () => {
      const remembered = MIGRATIONS.findIndex(({ id }) => id === '0011-retired-tenants');
      database = await server.createDatabase({ empty: true });
      await database.migrate(MIGRATIONS.slice(0, remembered));
      const log = (version: number, change: object) =>
        database.db.execute(
          sql`insert into config_log (version, changes, at) values (${version}, ${JSON.stringify([change])}::jsonb, now())`,
        );
      await log(1, { table: 'tenants', id: 'ancient', value: {} });
      await log(2, { table: 'tenants', id: 'ancient' });
      await database.migrate();
      const repository = repositoryOf();
      const tenant = (id: string) => ({ table: 'tenants' as const, id, value: { id } });
      await repository.commit({ version: 3, changes: [tenant('umbrella')] }, []);
      await repository.commit({ version: 4, changes: [tenant('umbrella')] }, []);
      await repository.commit({ version: 5, changes: [{ table: 'tenants', id: 'umbrella' }] }, []);
      await expect(repository.commit({ version: 6, changes: [tenant('umbrella')] }, [])).rejects.toBeInstanceOf(
        TenantRetiredError,
      );
      await expect(repository.commit({ version: 6, changes: [tenant('ancient')] }, [])).rejects.toBeInstanceOf(
        TenantRetiredError,
      );
      await repository.commit({ version: 6, changes: [tenant('globex')] }, []);
    },
    SLOW_MS,
  );

  it(
    'two processes that change at once lose nothing: each version is one change',
    async () => {
      const [first, second] = [await startStore(), await startStore()];
      const change = (store: ConfigStore, id: string): Promise<unknown> =>
        store.change({
          changes: [{ table: 'killSwitches', id, value: { id, scope: 'all', message: 'm' } }],
          audit: () => [],
        });
      await change(first, 'a');
      await change(second, 'b');
      await change(first, 'c');
      expect(Object.keys(first.snapshot().killSwitches)).toEqual(['a', 'b', 'c']);
      expect(first.version).toBe(4);
    },
    SLOW_MS,
  );
});

describe('people in PostgreSQL', () => {
  it(
    'sign in with the seeded password and no other',
    async () => {
      await seedPeople(database.db, demoSeed().users);
      await seedPeople(database.db, demoSeed().users);
      const checks = createPasswordChecks({ clock: systemClock, deviceKey: 'key' });
      const people = createPeople({ repository: createPostgresPeople({ db: database.db }), checks });
      expect(await people.verify('ADA@acme.test', 'correct horse', {})).toMatchObject({
        email: 'ada@acme.test',
        roles: { 'acme-prod': 'admin' },
      });
      await expect(people.verify('ada@acme.test', 'wrong', {})).rejects.toMatchObject({ status: 401 });
    },
    SLOW_MS,
  );
});

describe('operator sessions in PostgreSQL', () => {
  it(
    'outlive the process, and end for good',
    async () => {
      const archive = createPostgresSessionArchive({ db: database.db });
      const token = await createOperatorSessions({ clock: systemClock, archive }).open({ user: 'ops', role: 'admin' });
      const restarted = createOperatorSessions({ clock: systemClock, archive });
      expect(await restarted.find(token)).toEqual({ user: 'ops', role: 'admin' });
      await restarted.end(token);
      expect(await createOperatorSessions({ clock: systemClock, archive }).find(token)).toBeUndefined();
    },
    SLOW_MS,
  );
});
