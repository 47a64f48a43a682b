import { sql } from 'drizzle-orm';
import { createFakeClock, type FakeClock } from '@sluice/testing';
import { EVENT_SCHEMA, type Anomaly } from '@sluice/contracts';
import { createAudit } from '../audit/create-audit.ts';
import { createPostgresConfigRepository } from '../config/postgres-config-repository.ts';
import { seedConfig } from '../config/seed-config.ts';
import { createAnomalyStore } from '../consumers/anomaly-store.ts';
import type { Database } from '../db/open-database.ts';
import { startTestServer, type TestServer } from '../db/test-database.ts';
import { createLedger } from '../ledger/create-ledger.ts';
import { requestIdOf, settledCall } from '../ledger/testing.ts';
import { createPostgresPeople, seedPeople } from '../session/postgres-people.ts';
import { createIds } from '@sluice/service-kit';
import { demoSeed } from '../testing/demo-seed.ts';
import { createPostgresTenantPorts } from './postgres-tenant-ports.ts';
import type { TenantPorts } from './create-tenant-console.ts';

const NOW = Date.parse('2026-03-10T12:30:00.000Z');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const at = (ms: number): string => new Date(ms).toISOString();
const SCOPE = {
  workspace: 'acme-prod',
  tenant: 'acme',
  siblings: ['acme-prod', 'acme-staging'],
  actor: { kind: 'person' as const, id: 'u1' },
};

let server: TestServer;
let database: Database;
let clock: FakeClock;
let ports: TenantPorts;
let ledger: ReturnType<typeof createLedger>;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());
beforeEach(async () => {
  database = await server.createDatabase();
  clock = createFakeClock(NOW);
  const { db } = database;
  ledger = createLedger({ db, clock });
  const audit = createAudit({ clock, ids: createIds({ clock }) });
  ports = createPostgresTenantPorts({ db, clock, recordAudit: audit.record, webhookLoopback: true });
});

const refusal = (n: number, ms: number, extra: Partial<Anomaly> = {}): Anomaly => ({
  schema: EVENT_SCHEMA,
  event_id: `gw-1.${n}`,
  occurred_at: at(ms),
  type: 'refusals.throttled',
  gateway_id: 'gw-1',
  cell_id: 'cell-shared-1',
  tenant_id: 'acme',
  workspace: 'acme-prod',
  count: 25,
  subject: 'tenant requests',
  level: 'tenant',
  message: 'many',
  samples: [requestIdOf(900)],
  ...extra,
});

describe('usage', () => {
  it('is grouped by every property, with the period before, and other workspaces are not in it', async () => {
    await ledger.insertBatch([
      settledCall(1, { occurred_at: at(NOW - HOUR_MS), feature: 'search', end_user: 'ann', billed_nanousd: 10 }),
      settledCall(2, { occurred_at: at(NOW - 2 * HOUR_MS), end_user: 'bob', key_id: 'key00002', billed_nanousd: 30 }),
      settledCall(3, { occurred_at: at(NOW - DAY_MS), billed_nanousd: 5 }),
      settledCall(4, {
        occurred_at: at(NOW - HOUR_MS),
        workspace: 'globex-prod',
        tenant_id: 'globex',
        billed_nanousd: 1_000,
      }),
    ]);
    const toMs = NOW + HOUR_MS / 2;
    const range = {
      workspace: 'acme-prod',
      fromMs: toMs - 4 * HOUR_MS,
      toMs,
      previousMs: toMs - 30 * HOUR_MS,
      step: 'hour' as const,
    };
    const by = async (what: 'model' | 'feature' | 'key' | 'end_user' | 'day') => {
      const { groups, totals } = await ports.figures.usageGroups({ ...range, by: what });
      expect(totals).toMatchObject({
        now: { calls: 2, input_tokens: 26, output_tokens: 46, billed_nanousd: 40 },
        previous: { calls: 1, billed_nanousd: 5 },
      });
      return groups.map(({ key, now }) => [key, now.billed_nanousd]);
    };
    expect(await by('model')).toEqual([['sim-large', 40]]);
    expect(await by('feature')).toEqual([
      [null, 30],
      ['search', 10],
    ]);
    expect(await by('key')).toEqual([
      ['key00002', 30],
      ['key00001', 10],
    ]);
    expect(await by('end_user')).toEqual([
      ['bob', 30],
      ['ann', 10],
      [null, 0],
    ]);
    expect(await by('day')).toEqual([
      ['2026-03-10', 40],
      ['2026-03-09', 0],
    ]);
  });

  it('of what a quota counts is that of its span and scope', async () => {
    await ledger.insertBatch([
      settledCall(1, { occurred_at: at(NOW - HOUR_MS) }),
      settledCall(2, { occurred_at: at(NOW - 60_000), workspace: 'acme-staging' }),
      settledCall(3, { occurred_at: at(NOW - 40 * DAY_MS) }),
    ]);
    expect(await ports.figures.meters({ tenant: 'acme' }, NOW - DAY_MS, NOW)).toEqual({
      input_tokens: 26,
      output_tokens: 46,
      total_tokens: 72,
      cost_nanousd: 4_690,
    });
    expect(await ports.figures.meters({ workspace: 'acme-prod' }, NOW - DAY_MS, NOW)).toMatchObject({
      total_tokens: 36,
    });
  });

  it('has the latency of the newest calls, and none without calls', async () => {
    expect(await ports.figures.latency('acme-prod', NOW - HOUR_MS)).toBeNull();
    await ledger.insertBatch(
      [1, 2, 3].map((n) =>
        settledCall(n, {
          occurred_at: at(NOW - n * 1000),
          latency: { overhead_us: 1, queue_ms: 0, total_ms: n * 100 },
        }),
      ),
    );
    expect(await ports.figures.latency('acme-prod', NOW - HOUR_MS)).toMatchObject({ calls: 3, p50_ms: 200 });
  });
});

describe('requests', () => {
  it('are calls and refusals in one list that pages through without loss or repetition', async () => {
    await ledger.insertBatch(
      Array.from({ length: 7 }, (_, n) => settledCall(n + 1, { occurred_at: at(NOW - n * 1000) })),
    );
    await createAnomalyStore({ db: database.db }).insert([
      refusal(1, NOW - 1500),
      refusal(2, NOW - 2000),
      refusal(3, NOW - 500, { workspace: 'globex-prod', tenant_id: 'globex' }),
      refusal(4, NOW - 100, { type: 'quota.warning' }),
    ]);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await ports.figures.requests({ workspace: 'acme-prod', limit: 2, cursor });
      seen.push(...page.found.map((one) => (one.kind === 'call' ? one.row.request_id : one.group.eventId)));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toEqual(
      [requestIdOf(1), requestIdOf(2), 'gw-1.1', requestIdOf(3), 'gw-1.2', ...[4, 5, 6, 7].map(requestIdOf)].map(
        (id) => id,
      ),
    );
  });

  it('are found by outcome and by id, also a refused one among the samples, and never of another workspace', async () => {
    await ledger.insertBatch([
      settledCall(1, { outcome: 'timeout' }),
      settledCall(2, { workspace: 'globex-prod', tenant_id: 'globex' }),
    ]);
    await createAnomalyStore({ db: database.db }).insert([refusal(1, NOW)]);
    const find = async (search: object) =>
      (await ports.figures.requests({ workspace: 'acme-prod', limit: 10, ...search })).found.length;
    expect(await find({ outcome: 'throttled' })).toBe(1);
    expect(await find({ outcome: 'timeout' })).toBe(1);
    expect(await find({ outcome: 'ok' })).toBe(0);
    expect(await find({ request_id: requestIdOf(900) })).toBe(1);
    expect(await find({ request_id: requestIdOf(2) })).toBe(0);
  });
});

describe('series', () => {
  it('keep the one slow call among many, at its instant, and a gap where nobody called', async () => {
    const calls = Array.from({ length: 600 }, (_, n) =>
      settledCall(n + 1, {
        occurred_at: at(NOW - 2 * HOUR_MS + n * 5_000 + (n >= 300 ? HOUR_MS : 0)),
        latency: { overhead_us: 1, queue_ms: 0, total_ms: n === 123 ? 9_999 : 10 },
      }),
    );
    await ledger.insertBatch(calls);
    const range = { workspace: 'acme-prod', fromMs: NOW - 2 * HOUR_MS, toMs: NOW, points: 60 };
    const latency = await ports.figures.series({ ...range, metric: 'latency_ms' });
    expect(latency).toMatchObject({ samples: 600, downsampled: true });
    expect(latency.points.length).toBeLessThanOrEqual(60);
    expect(latency.points.find(({ value }) => value === 9_999)?.at).toBe(at(NOW - 2 * HOUR_MS + 123 * 5_000));
    expect(latency.points.some(({ value }) => value === null)).toBe(true);
    const counts = await ports.figures.series({ ...range, metric: 'calls' });
    expect(counts).toMatchObject({ step_s: 1, samples: 600 });
    expect(counts.points.some(({ value }) => value === null)).toBe(true);
    const hours = await ports.figures.series({ ...range, fromMs: NOW - 10 * DAY_MS, metric: 'tokens', points: 1000 });
    expect(hours.points.reduce((sum, { value }) => sum + (value ?? 0), 0)).toBe(600 * 36);
  });
});

describe('members', () => {
  beforeEach(async () => {
    await seedPeople(database.db, [
      { email: 'ada@acme.test', password: 'correct horse', roles: { 'acme-prod': 'admin' } },
      { email: 'col@acme.test', password: 'correct horse', roles: { 'acme-staging': 'viewer' } },
      { email: 'gus@globex.test', password: 'correct horse', roles: { 'globex-prod': 'admin' } },
    ]);
  });

  it('are colleagues at once; strangers and other customers’ people are invited alike', async () => {
    expect(await ports.members.add(SCOPE, 'col@acme.test', 'developer')).toMatchObject({
      email: 'col@acme.test',
      role: 'developer',
    });
    const shape = async (email: string) => Object.keys(await ports.members.add(SCOPE, email, 'viewer')).toSorted();
    expect(await shape('gus@globex.test')).toEqual(await shape('nobody@acme.test'));
    const list = await ports.members.list('acme-prod');
    expect(list.map(({ email, role, expiresMs }) => [email, role, expiresMs !== undefined])).toEqual([
      ['ada@acme.test', 'admin', false],
      ['col@acme.test', 'developer', false],
      ['gus@globex.test', 'viewer', true],
      ['nobody@acme.test', 'viewer', true],
    ]);
    expect(await ports.members.list('globex-prod')).toHaveLength(1);
    await expect(ports.members.add(SCOPE, 'ada@acme.test', 'viewer')).rejects.toMatchObject({ status: 409 });
  });

  it('never lose their last admin, not even when two go at once', async () => {
    const [ada] = await ports.members.list('acme-prod');
    await expect(ports.members.remove(SCOPE, ada?.id ?? '')).rejects.toMatchObject({ status: 409 });
    await expect(ports.members.setRole(SCOPE, ada?.id ?? '', 'viewer')).rejects.toMatchObject({ status: 409 });
    const col = await ports.members.add(SCOPE, 'col@acme.test', 'admin');
    const ends = await Promise.allSettled([
      ports.members.remove(SCOPE, ada?.id ?? ''),
      ports.members.remove(SCOPE, col.id),
    ]);
    expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await ports.members.list('acme-prod')).toHaveLength(1);
  });

  it('of another workspace cannot be changed from here', async () => {
    const [gus] = await ports.members.list('globex-prod');
    expect(await ports.members.setRole(SCOPE, gus?.id ?? '', 'viewer')).toBeUndefined();
    expect(await ports.members.remove(SCOPE, gus?.id ?? '')).toBe(false);
    expect(await ports.members.list('globex-prod')).toHaveLength(1);
  });

  it('take an invitation once, within its time', async () => {
    const { invitation = '' } = await ports.members.add(SCOPE, 'new@acme.test', 'finance');
    expect(await ports.members.invitation(invitation)).toEqual({ email: 'new@acme.test' });
    // Operators see it while it is open, and not its secret.
    const open = await ports.members.openInvitations({ workspace: 'acme-prod', limit: 10 });
    expect(open).toEqual([
      expect.objectContaining({ email: 'new@acme.test', role: 'finance', workspace: 'acme-prod', tenant: 'acme' }),
    ]);
    expect(JSON.stringify(open)).not.toContain(invitation);
    expect(await ports.members.openInvitations({ workspace: 'globex-prod', limit: 10 })).toEqual([]);
    expect(await ports.members.openInvitations({ after: open[0]?.id, limit: 10 })).toEqual([]);
    const late = await ports.members.add(SCOPE, 'late@acme.test', 'viewer');
    expect(await ports.members.accept(invitation, 'a long password')).toBe(true);
    expect(await ports.members.accept(invitation, 'a long password')).toBe(false);
    expect(await createPostgresPeople({ db: database.db }).find('new@acme.test')).toMatchObject({
      roles: { 'acme-prod': 'finance' },
    });
    clock.advance(8 * DAY_MS);
    expect(await ports.members.accept(late.invitation ?? '', 'a long password')).toBe(false);
  });

  it('of another customer take an invitation as themselves alone, and nobody else with its secret or its address', async () => {
    const people = createPostgresPeople({ db: database.db });
    const [gus, ada] = [await people.find('gus@globex.test'), await people.find('ada@acme.test')];
    if (gus === undefined || ada === undefined) throw new Error('nobody is there');
    const { id, invitation = '' } = await ports.members.add(SCOPE, 'gus@globex.test', 'viewer');
    expect((await people.find('gus@globex.test'))?.roles).toEqual({ 'globex-prod': 'admin' });
    // Neither a new account of the address, nor another person, nor a wrong secret.
    expect(await ports.members.accept(invitation, 'a long password')).toBe(false);
    expect(await ports.members.acceptAs(ada, invitation)).toBe(false);
    expect(await ports.members.acceptAs(gus, 'x'.repeat(43))).toBe(false);
    expect(await ports.members.decline(ada, id)).toBe(false);
    expect(await ports.members.invitationsOf('ada@acme.test')).toEqual([]);
    expect(await ports.members.invitationsOf('Gus@globex.test')).toMatchObject([{ id, workspace: 'acme-prod' }]);
    expect((await people.find('gus@globex.test'))?.roles).toEqual({ 'globex-prod': 'admin' });
    expect(await ports.members.acceptAs(gus, invitation)).toBe(true);
    expect((await people.find('gus@globex.test'))?.roles).toEqual({ 'globex-prod': 'admin', 'acme-prod': 'viewer' });
    expect(await ports.members.acceptAs(gus, invitation)).toBe(false);
  });

  it('decline an invitation of their own, and its secret is worth nothing then', async () => {
    const gus = await createPostgresPeople({ db: database.db }).find('gus@globex.test');
    if (gus === undefined) throw new Error('nobody is there');
    const { id, invitation = '' } = await ports.members.add(SCOPE, 'gus@globex.test', 'viewer');
    expect(await ports.members.decline(gus, id)).toBe(true);
    expect(await ports.members.acceptAs(gus, invitation)).toBe(false);
  });
});

describe('alerts and webhooks', () => {
  const low = {
    kind: 'budget.80' as const,
    severity: 'warning' as const,
    subject: 'tenant month',
    message: 'much',
    dedupe: 'budget.80/tenant/month/1',
  };
  const hook = { url: 'https://hooks.example/secret-path', kinds: null, enabled: true };

  it('are raised once, end by themselves, and leave one delivery for each webhook that wants them', async () => {
    await ports.webhooks.create(SCOPE, hook, NOW);
    await ports.webhooks.create(SCOPE, { ...hook, kinds: ['kill_switch'] }, NOW);
    await ports.webhooks.create(SCOPE, { ...hook, enabled: false }, NOW);
    await ports.webhooks.create({ ...SCOPE, workspace: 'globex-prod', tenant: 'globex' }, hook, NOW);
    expect(await ports.alerts.update(SCOPE, [low], NOW)).toEqual({ raised: 1, ended: 0 });
    expect(await ports.alerts.update(SCOPE, [low], NOW + 1)).toEqual({ raised: 0, ended: 0 });
    expect(await ports.alerts.open('acme-prod')).toBe(1);
    expect(await ports.alerts.update(SCOPE, [], NOW + 2)).toEqual({ raised: 0, ended: 1 });
    expect(await ports.alerts.update(SCOPE, [low], NOW + 3)).toEqual({ raised: 0, ended: 0 });
    expect((await ports.alerts.list('acme-prod', { limit: 10 })).rows).toMatchObject([
      { kind: 'budget.80', ended_at: null },
    ]);
    expect((await ports.alerts.list('globex-prod', { limit: 10 })).rows).toEqual([]);
    const due = await ports.webhooks.take(NOW + 10, 60_000);
    expect(due).toHaveLength(1);
    expect(JSON.parse(due[0]?.body ?? '{}')).toMatchObject({
      id: due[0]?.alertId,
      kind: 'budget.80',
      workspace: 'acme-prod',
    });
  });

  it('are taken a few of each tenant at a time, so that one cannot be in front of all', async () => {
    const [mine, theirs] = [
      await ports.webhooks.create(SCOPE, hook, NOW),
      await ports.webhooks.create({ ...SCOPE, workspace: 'globex-prod', tenant: 'globex' }, hook, NOW),
    ];
    for (let n = 1; n <= 25; n += 1) await ports.webhooks.addTest('acme-prod', mine.webhook_id, NOW + n * 60_000);
    await ports.webhooks.addTest('globex-prod', theirs.webhook_id, NOW + 30 * 60_000);
    const tenants = async (without: string[]) =>
      (await ports.webhooks.take(NOW + HOUR_MS, 60_000, { without })).map(({ tenant }) => tenant).sort();
    expect(await tenants(['globex'])).toEqual(['acme', 'acme', 'acme', 'acme']);
    expect(await tenants([])).toEqual(['acme', 'acme', 'acme', 'acme', 'globex']);
  });

  it('a delivery that is taken is nobody else’s until its lease ends, and its log tells how it went', async () => {
    const made = await ports.webhooks.create(SCOPE, hook, NOW);
    await ports.alerts.update(SCOPE, [low], NOW);
    const [due] = await ports.webhooks.take(NOW, 60_000);
    expect(await ports.webhooks.take(NOW + 59_000, 60_000)).toEqual([]);
    const [again] = await ports.webhooks.take(NOW + 61_000, 60_000);
    expect([again?.id, again?.attempts]).toEqual([due?.id, 1]);
    await ports.webhooks.ended(
      again?.id ?? '',
      { delivered: false, status: 500, error: 'the receiver answered 500', retryAtMs: NOW + 99_000 },
      NOW,
    );
    expect((await ports.webhooks.deliveries('acme-prod', made.webhook_id))?.rows).toMatchObject([
      { state: 'waiting', attempts: 2, status: 500, next_attempt_at: at(NOW + 99_000) },
    ]);
    expect(await ports.webhooks.deliveries('globex-prod', made.webhook_id)).toBeUndefined();
    expect(await ports.webhooks.addTest('globex-prod', made.webhook_id, NOW)).toBeUndefined();
    expect(await ports.webhooks.remove({ ...SCOPE, workspace: 'globex-prod' }, made.webhook_id)).toBe(false);
    expect(await ports.webhooks.remove(SCOPE, made.webhook_id)).toBe(true);
  });

  it('what waits for a webhook is given up when it is switched off, also what is under way and would be tried again', async () => {
    const made = await ports.webhooks.create(SCOPE, hook, NOW);
    const other = await ports.webhooks.create(SCOPE, hook, NOW);
    for (const [n, { webhook_id }] of [made, made, other].entries())
      await ports.webhooks.addTest('acme-prod', webhook_id, NOW + n * 60_000);
    const [underWay] = await ports.webhooks.take(NOW, 60_000);
    await ports.webhooks.update(SCOPE, made.webhook_id, { ...hook, enabled: false });
    await ports.webhooks.ended(
      underWay?.id ?? '',
      { delivered: false, status: 500, error: 'the receiver answered 500', retryAtMs: NOW + 99_000 },
      NOW,
    );
    const off = { state: 'failed', error: 'the webhook was switched off' };
    expect((await ports.webhooks.deliveries('acme-prod', made.webhook_id))?.rows).toMatchObject([off, off]);
    await ports.webhooks.update(SCOPE, made.webhook_id, hook);
    expect((await ports.webhooks.take(NOW + HOUR_MS, 60_000)).map(({ webhookId }) => webhookId)).toEqual([
      other.webhook_id,
    ]);
  });

  it('a webhook is tested once in ten seconds, also when many ask at once', async () => {
    const made = await ports.webhooks.create(SCOPE, hook, NOW);
    const test = (atMs: number) =>
      ports.webhooks.addTest('acme-prod', made.webhook_id, atMs).then(
        (id) => (id === undefined ? 'none' : 'sent'),
        (error: unknown) => (error as { status?: number }).status,
      );
    expect((await Promise.all([1, 2, 3, 4].map(() => test(NOW)))).toSorted()).toEqual([409, 409, 409, 'sent']);
    expect([await test(NOW + 9_999), await test(NOW + 10_000)]).toEqual([409, 'sent']);
  });

  it('many deliveries of one workspace hold back no other workspace’s', async () => {
    await ports.webhooks.create(SCOPE, hook, NOW);
    await ports.webhooks.create({ ...SCOPE, workspace: 'globex-prod', tenant: 'globex' }, hook, NOW);
    await ports.alerts.update(
      SCOPE,
      Array.from({ length: 30 }, (_, n) => ({ ...low, dedupe: `budget.80/${n}` })),
      NOW,
    );
    await ports.alerts.update({ tenant: 'globex', workspace: 'globex-prod' }, [low], NOW + 1);
    const due = await ports.webhooks.take(NOW + 10, 60_000);
    expect(due.map(({ body }) => (JSON.parse(body) as { workspace: string }).workspace).toSorted()).toEqual([
      ...Array<string>(4).fill('acme-prod'),
      'globex-prod',
    ]);
  });

  it('changes are audited without the path of the address, which may hold a secret', async () => {
    await ports.webhooks.create(SCOPE, hook, NOW);
    const { rows } = await database.pool.query<{ event: { type: string; after: unknown } }>(
      'select event from event_outbox',
    );
    expect(rows.map(({ event }) => event.type)).toEqual(['webhook.created']);
    expect(JSON.stringify(rows)).not.toContain('secret-path');
  });

  it('sees how many were refused within the last minute', async () => {
    await createAnomalyStore({ db: database.db }).insert([
      refusal(1, NOW - 1_000),
      refusal(2, NOW - 2_000),
      refusal(3, NOW - 90_000),
      refusal(4, NOW, { workspace: 'globex-prod' }),
    ]);
    expect(await ports.alerts.refusals('acme-prod', NOW)).toEqual([
      { kind: 'refusals.throttled', subject: 'tenant requests', count: 50 },
    ]);
  });
});

describe('what configuration used to be', () => {
  it('is told by version and instant', async () => {
    const repository = createPostgresConfigRepository({ db: database.db, recordAudit: async () => undefined });
    await seedConfig({ repository, clock }, demoSeed());
    const before = (await ports.history.of('tenants', 'acme'))[0];
    await repository.commit(
      {
        version: 2,
        changes: [{ table: 'tenants', id: 'acme', value: { ...(before?.value as object), plan: 'free' } }],
      },
      [],
    );
    expect(
      (await ports.history.of('tenants', 'acme')).map(({ version, value }) => [
        version,
        (value as { plan: string }).plan,
      ]),
    ).toEqual([
      [1, 'enterprise'],
      [2, 'free'],
    ]);
    expect((await ports.history.at('tenants', 'acme', 1))?.value).toMatchObject({ plan: 'enterprise' });
    expect(await ports.history.at('tenants', 'initech', 2)).toBeUndefined();
    const twice = [
      { table: 'tenants', id: 'acme', value: { plan: 'a' } },
      { table: 'plans', id: 'acme', value: {} },
      { table: 'tenants', id: 'acme', value: { plan: 'b' } },
    ];
    await database.db.execute(
      sql`insert into config_log (version, changes, at) values (90, ${JSON.stringify(twice)}::jsonb, now()), (91, ${JSON.stringify([{ table: 'tenants', id: 'acme' }])}::jsonb, now())`,
    );
    expect((await ports.history.of('tenants', 'acme')).slice(-2).map(({ value }) => value)).toEqual([
      { plan: 'b' },
      undefined,
    ]);
  });
});
