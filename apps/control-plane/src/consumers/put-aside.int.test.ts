import { sql } from 'drizzle-orm';
import type { EventHandler, OutgoingEvent } from '@sluice/contracts';
import { createFakeClock, type FakeClock } from '@sluice/testing';
import { createOutboxRelay } from '../audit/create-outbox-relay.ts';
import type { Database } from '../db/open-database.ts';
import { createRowRetention } from '../db/row-retention.ts';
import { startTestServer, type TestServer } from '../db/test-database.ts';
import { createLedger, type Ledger } from '../ledger/create-ledger.ts';
import { settledCall } from '../ledger/testing.ts';
import { createMeteringHandler } from './metering-handler.ts';
import { createPutAside, type PutAside } from './put-aside.ts';

const NOW = Date.parse('2026-03-10T12:00:00.000Z');
const DAY_MS = 86_400_000;
const LAST_RECEIVE = 3;
const SLOW_MS = 120_000;

let server: TestServer;
let database: Database;
let clock: FakeClock;
let putAside: PutAside;
let reported: string[];
beforeAll(async () => {
  server = await startTestServer();
}, SLOW_MS);
afterAll(() => server.stop());
beforeEach(async () => {
  database = await server.createDatabase();
  clock = createFakeClock(NOW);
  reported = [];
  putAside = createPutAside({ db: database.db, clock, onTaken: ({ id }) => reported.push(id) });
}, SLOW_MS);

async function count(table: string): Promise<number> {
  const found = await database.db.execute<{ n: string }>(sql.raw(`select count(*) as n from ${table}`));
  return Number(found.rows[0]?.n);
}

describe('a usage record that the ledger never takes', () => {
  let ledger: Ledger;
  let handler: EventHandler;
  beforeEach(() => {
    ledger = createLedger({ db: database.db, clock });
    handler = createMeteringHandler({ ledger, clock, putAside: { records: putAside, lastReceive: LAST_RECEIVE } });
  });

  const message = (body: unknown, receiveCount = 1) => ({
    messageId: `m-${JSON.stringify(body).length}-${receiveCount}`,
    body: JSON.stringify(body),
    attributes: {},
    receiveCount,
  });
  const poisoned = (n: number) => ({ ...settledCall(n), status: 'no number' });
  const acknowledged = async () => (await ledger.watermarks()).find((mark) => mark.gateway_id === 'gw-1')?.sequence;

  it('is put aside at its last receive, so that its gateway hears that everything else is held', async () => {
    await handler([message(settledCall(1)), message(settledCall(3)), message(settledCall(4))]);
    for (let receive = 1; receive < LAST_RECEIVE; receive += 1) {
      expect((await handler([message(poisoned(2), receive)])).failed.size).toBe(1);
      expect(await acknowledged()).toBe(1);
    }
    // Still a dead letter, with its reason, so that it can be sent again.
    expect((await handler([message(poisoned(2), LAST_RECEIVE)])).failed.size).toBe(1);
    expect(await acknowledged()).toBe(4);
    expect(reported).toEqual(['usage gw-1/1/2']);
    expect(await putAside.list(10)).toEqual([
      {
        id: 'usage gw-1/1/2',
        source: 'ledger',
        reason: expect.stringContaining('status'),
        at: new Date(NOW).toISOString(),
        body: JSON.stringify(poisoned(2)),
      },
    ]);
  });

  it('is put aside once, and the ledger takes it when it was repaired', async () => {
    await handler([message(settledCall(1))]);
    for (let n = 0; n < 2; n += 1) await handler([message(poisoned(2), LAST_RECEIVE)]);
    expect([await putAside.count(), reported]).toEqual([1, ['usage gw-1/1/2']]);
    await handler([message(settledCall(2))]);
    expect(await count('ledger')).toBe(2);
  });

  it('moves nothing for a gateway that the ledger does not know', async () => {
    await handler([message(settledCall(1))]);
    await handler([message({ ...poisoned(2), gateway_id: 'made-up' }, LAST_RECEIVE)]);
    expect([await putAside.count(), await acknowledged()]).toEqual([0, 1]);
  });
});

describe('an event that the spine never takes', () => {
  const add = (n: number) =>
    database.db.execute(sql`
      insert into event_outbox (topic, event, attributes)
      values ('anomaly-events', ${JSON.stringify({ event_id: `e-${n}`, occurred_at: new Date(NOW).toISOString() })}::jsonb, '{}'::jsonb)`);

  it('is put aside after it was refused beside others again and again, and the others go on all the while', async () => {
    const published: string[] = [];
    const relay = createOutboxRelay({
      db: database.db,
      clock,
      intervalMs: 1e6,
      putAside,
      publisher: {
        publish: async (events: readonly OutgoingEvent[]) => {
          const bad = events.filter(({ body }) => body.includes('"e-0"'));
          for (const event of events) if (!bad.includes(event)) published.push(event.id);
          return bad.map(({ id }) => id);
        },
      },
    });
    await add(0);
    for (let n = 1; n <= 110; n += 1) {
      await add(n);
      await relay.flush().catch(() => undefined);
      clock.advance(1_001);
    }
    expect(published).toHaveLength(110);
    expect([await count('event_outbox'), reported.length]).toEqual([0, 1]);
    expect(await putAside.list(10)).toMatchObject([{ source: 'outbox', reason: expect.stringContaining('refused') }]);
  });

  it('waits while nothing gets through, however long the spine is away', async () => {
    const relay = createOutboxRelay({
      db: database.db,
      clock,
      intervalMs: 1e6,
      putAside,
      publisher: { publish: async (events) => events.map(({ id }) => id) },
    });
    await add(0);
    for (let n = 0; n < 150; n += 1) {
      await relay.flush().catch(() => undefined);
      clock.advance(10_000);
    }
    expect([await count('event_outbox'), await count('put_aside')]).toEqual([1, 0]);
  });
});

describe('rows that are kept for a time', () => {
  const at = (daysAgo: number) => sql`${new Date(NOW - daysAgo * DAY_MS).toISOString()}::timestamptz`;
  const alert = (id: string, ended: number | undefined) =>
    database.db.execute(sql`
      insert into alerts (id, tenant_id, workspace, kind, severity, subject, message, dedupe, raised_at, ended_at)
      values (${id}, 'acme', 'acme-prod', 'budget.80', 'info', 's', 'm', ${id}, ${at(400)}, ${ended === undefined ? sql`null` : at(ended)})`);
  const delivery = (id: string, state: string, daysAgo: number) =>
    database.db.execute(sql`
      insert into webhook_deliveries (id, webhook_id, workspace, alert_id, kind, body, created_at, state, due_at)
      values (${id}, 'wh', 'acme-prod', ${id}, 'budget.80', '{}', ${at(daysAgo)}, ${state}, ${at(daysAgo)})`);

  it('go at their age, a bounded number at a turn; what lasts or waits stays', async () => {
    const pruned: Record<string, number> = {};
    const retention = createRowRetention({
      db: database.db,
      clock,
      keepDays: 90,
      onPruned: (table, rows) => (pruned[table] = (pruned[table] ?? 0) + rows),
    });
    await database.db.execute(sql`
      insert into anomalies (event_id, occurred_at, type, gateway_id, cell_id, subject, count, message, samples)
      select 'a-' || n, ${at(0)} - make_interval(days => case when n <= 2500 then 91 else 89 end), 't', 'g', 'c', 's', 1, 'm', '[]'::jsonb from generate_series(1, 2510) n`);
    await database.db.execute(
      sql`insert into webhooks (id, tenant_id, workspace, url, enabled, created_at) values ('wh', 'acme', 'acme-prod', 'https://x.test', true, ${at(400)})`,
    );
    await alert('old', 91);
    await alert('young', 89);
    await alert('open', undefined);
    await delivery('old', 'delivered', 91);
    await delivery('waiting', 'waiting', 91);
    await delivery('young', 'failed', 89);
    expect(await retention.turn()).toBe(true);
    expect(await count('anomalies')).toBe(1_510);
    while (await retention.turn());
    expect([await count('anomalies'), await count('alerts'), await count('webhook_deliveries')]).toEqual([10, 2, 2]);
    expect(pruned).toEqual({ anomalies: 2_500, alerts: 1, webhook_deliveries: 1 });
  });
});
