import { sql } from 'drizzle-orm';
import {
  EVENT_SCHEMA,
  type Anomaly,
  type EventConsumer,
  type EventHandler,
  type OutgoingEvent,
} from '@sluice/contracts';
import { createIds } from '@sluice/service-kit';
import { createFakeClock, eventually } from '@sluice/testing';
import { createAnomalyStore } from '../consumers/anomaly-store.ts';
import { createConsumers, type ConsumerName } from '../consumers/create-consumers.ts';
import { openDatabase, type Database } from '../db/open-database.ts';
import { startTestServer, type TestServer } from '../db/test-database.ts';
import { createLedger } from '../ledger/create-ledger.ts';
import { createAudit } from './create-audit.ts';
import { createAuditStore } from './audit-store.ts';
import { createOutboxRelay } from './create-outbox-relay.ts';

let server: TestServer;
let database: Database;
const clock = createFakeClock(Date.parse('2026-03-10T12:00:00.000Z'));
const audit = createAudit({ clock, ids: createIds({ clock }) });
const input = {
  type: 'policy.changed',
  actor: { kind: 'operator' as const, id: 'root' },
  target: { kind: 'workspace', id: 'acme-prod' },
  tenant_id: 'acme',
  before: { burst: 1 },
  after: { burst: 2 },
};

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());
beforeEach(async () => {
  database = await server.createDatabase();
});

/** A publisher that refuses the ids it is told to, and a relay on it. */
function relayTo(published: OutgoingEvent[], refuse: (events: readonly OutgoingEvent[]) => string[] = () => []) {
  const publish = async (events: readonly OutgoingEvent[]) => {
    const refused = refuse(events);
    published.push(...events.filter((event) => !refused.includes(event.id)));
    return refused;
  };
  return createOutboxRelay({ db: database.db, publisher: { publish }, clock, intervalMs: 5 });
}

/** The consumers with their handlers laid open, as the spine would call them. */
function openConsumers(onAnomaly?: (anomaly: Anomaly) => void) {
  const handlers = new Map<ConsumerName, EventHandler>();
  const idle: EventConsumer = {
    start: () => undefined,
    stop: async () => undefined,
    setBroken: () => undefined,
    state: { broken: false, handled: 0, failed: 0, deadLettered: 0, lastError: undefined },
  };
  createConsumers({
    ledger: createLedger({ db: database.db, clock }),
    db: database.db,
    clock,
    consumerFactory: (name, handler) => {
      handlers.set(name, handler);
      return idle;
    },
    ...(onAnomaly && { onAnomaly }),
  });
  return (name: ConsumerName, bodies: readonly string[]) =>
    handlers.get(name)?.(bodies.map((body, i) => ({ messageId: String(i), body, attributes: {}, receiveCount: 1 })));
}

describe('audit', () => {
  it('travels from the change over the outbox to the audit log, once, however often it is delivered', async () => {
    await database.db.transaction((tx) => audit.record(tx, input));
    const published: OutgoingEvent[] = [];
    expect(await relayTo(published).flush()).toBe(1);
    expect(published).toMatchObject([
      { topic: 'audit-events', attributes: { type: 'policy.changed', tenant_id: 'acme' } },
    ]);
    const body = published[0]?.body ?? '';
    await openConsumers()('audit', [body, body]);
    await openConsumers()('audit', [body]);
    expect(await createAuditStore({ db: database.db }).rows({ limit: 10, tenant: 'acme' })).toMatchObject({
      rows: [
        {
          type: 'policy.changed',
          before: { burst: 1 },
          after: { burst: 2 },
          reason: null,
          occurred_at: '2026-03-10T12:00:00.000Z',
        },
      ],
      next_cursor: null,
    });
    expect(await createAuditStore({ db: database.db }).rows({ limit: 10, tenant: 'globex' })).toEqual({
      rows: [],
      next_cursor: null,
    });
  });

  it('leaves nothing when the change is rolled back', async () => {
    await expect(
      database.db.transaction(async (tx) => {
        await audit.record(tx, input);
        throw new Error('the change failed');
      }),
    ).rejects.toThrow('the change failed');
    expect(await relayTo([]).flush()).toBe(0);
  });
});

describe('the outbox relay', () => {
  it('publishes everything in order in batches of at most ten, and nothing twice', async () => {
    for (let i = 0; i < 23; i += 1) await audit.record(database.db, { ...input, reason: String(i) });
    const published: OutgoingEvent[] = [];
    const sizes: number[] = [];
    const relay = relayTo(published, (events) => {
      sizes.push(events.length);
      return [];
    });
    expect(await relay.flush()).toBe(23);
    expect(await relay.flush()).toBe(0);
    expect(sizes).toEqual([10, 10, 3]);
    expect(published.map((event) => JSON.parse(event.body).reason)).toEqual(
      Array.from({ length: 23 }, (_, i) => String(i)),
    );
  });

  it('sends again what was refused, and only that', async () => {
    for (let i = 0; i < 3; i += 1) await audit.record(database.db, { ...input, reason: String(i) });
    const published: OutgoingEvent[] = [];
    let first = true;
    const relay = relayTo(published, (events) => (first ? ((first = false), [events[1]?.id ?? '']) : []));
    await expect(relay.flush()).rejects.toThrow('refused 1 of 3');
    expect(await relay.flush()).toBe(0);
    clock.advance(1_000);
    expect(await relay.flush()).toBe(1);
    expect(published.map((event) => JSON.parse(event.body).reason)).toEqual(['0', '2', '1']);
  });

  it('publishes again what the consumer has not stored, ever more rarely, until it has', async () => {
    const lost = await audit.record(database.db, input);
    const published: OutgoingEvent[] = [];
    const relay = relayTo(published);
    const due: number[] = [];
    for (let second = 0; second < 1_000; second += 10) {
      if ((await relay.flush()) > 0) due.push(second);
      clock.advance(10_000);
    }
    expect(due).toEqual([0, 30, 90, 210, 450, 930]);
    expect(new Set(published.map((event) => event.body)).size).toBe(1);
    expect(await relay.measure()).toEqual({ rows: 1, oldestAgeMs: 1_000_000 });
    await openConsumers()('audit', [published[0]?.body ?? '']);
    expect(await relay.measure()).toEqual({ rows: 0, oldestAgeMs: 0 });
    clock.advance(600_000);
    expect(await relay.flush()).toBe(0);
    expect((await createAuditStore({ db: database.db }).rows({ limit: 10 })).rows.map((row) => row.event_id)).toEqual([
      lost.event_id,
    ]);
  });

  it('is done with an event of another topic when it is published', async () => {
    await database.db.execute(
      sql`insert into event_outbox (topic, event) values ('anomaly-events', '{"event_id":"x"}')`,
    );
    expect(await relayTo([]).flush()).toBe(1);
    expect((await database.db.execute(sql`select 1 from event_outbox`)).rows).toEqual([]);
  });

  it('polls, outlives a spine that is away, and ends when it is stopped', async () => {
    const published: OutgoingEvent[] = [];
    let away = 2;
    const relay = relayTo(published, () => {
      if (away > 0) {
        away -= 1;
        throw new Error('connect ECONNREFUSED');
      }
      return [];
    });
    await audit.record(database.db, input);
    relay.start();
    await eventually(() => expect(published).toHaveLength(1));
    await relay.stop();
    expect(relay.state.lastError).toBeUndefined();
    await audit.record(database.db, input);
    const waiting = await database.db.execute(sql`select 1 from event_outbox where published_at is null`);
    expect(waiting.rows).toHaveLength(1);
  });
});

describe('the audit log', () => {
  it('is read by tenant, actor, action and time, page by page without a gap', async () => {
    const at = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString();
    const events = Array.from({ length: 10 }, (_, n) => ({
      schema: EVENT_SCHEMA,
      event_id: `aud-${n}`,
      // Two of each moment, so that the id must break the tie.
      occurred_at: at(Math.floor(n / 2)),
      type: n % 2 === 0 ? 'policy.changed' : 'key.created',
      actor: { kind: 'operator', id: n < 5 ? 'ann' : 'bob' },
      target: { kind: 'x', id: 'y' },
      tenant_id: n % 3 === 0 ? 'acme' : 'globex',
    }));
    await openConsumers()(
      'audit',
      events.map((event) => JSON.stringify(event)),
    );
    const log = createAuditStore({ db: database.db });
    const ids = async (query: object) => (await log.rows({ limit: 100, ...query })).rows.map((row) => row.event_id);
    expect(await ids({ tenant: 'acme' })).toEqual(['aud-9', 'aud-6', 'aud-3', 'aud-0']);
    expect(await ids({ actor: 'ann', action: 'policy' })).toEqual(['aud-4', 'aud-2', 'aud-0']);
    expect(await ids({ action: 'key.created', from: at(1), to: at(3) })).toEqual(['aud-5', 'aud-3']);
    const paged: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof log.rows>> = await log.rows({
        limit: 3,
        ...(cursor !== null && { cursor }),
      });
      paged.push(...page.rows.map((row) => row.event_id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(paged).toEqual(await ids({}));
    expect(paged).toHaveLength(10);
    await expect(log.rows({ limit: 3, cursor: 'nonsense' })).rejects.toMatchObject({ status: 400 });
  });
});

describe('anomalies', () => {
  const anomaly: Anomaly = {
    schema: EVENT_SCHEMA,
    event_id: 'gw-1.throttled.1',
    occurred_at: '2026-03-10T12:00:00.000Z',
    type: 'refusals.throttled',
    gateway_id: 'gw-1',
    cell_id: 'cell-shared-1',
    tenant_id: 'acme',
    workspace: 'acme-prod',
    count: 12,
    subject: 'rpm',
    message: '12 calls of acme-prod were throttled',
    samples: [],
  };

  it('are kept once, told once, and a malformed one fails alone', async () => {
    const told: string[] = [];
    const deliver = openConsumers((one) => told.push(one.event_id));
    const bodies = [
      JSON.stringify(anomaly),
      JSON.stringify({ ...anomaly, count: -1 }),
      JSON.stringify({ ...anomaly, event_id: 'gw-1.throttled.2', occurred_at: '2026-03-10T12:00:01.000Z' }),
    ];
    const verdict = await deliver('anomaly', bodies);
    expect([...(verdict?.failed.keys() ?? [])]).toEqual(['1']);
    await deliver('anomaly', bodies);
    expect(told).toEqual(['gw-1.throttled.1', 'gw-1.throttled.2']);
    expect(await createAnomalyStore({ db: database.db }).recent(10)).toMatchObject([
      { event_id: 'gw-1.throttled.2' },
      { event_id: 'gw-1.throttled.1', tenant: 'acme', count: 12 },
    ]);
  });
});

describe('the database', () => {
  it('is migrated once by processes that boot together, and tells its health', async () => {
    await Promise.all([database.migrate(), database.migrate()]);
    expect(await database.healthy()).toBe(true);
  });

  it('may cut a connection in the middle of a transaction: that transaction fails, and nothing else', async () => {
    const cut = database.db.transaction(async (tx) => {
      const { rows } = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
      await database.db.execute(sql`select pg_terminate_backend(${rows[0]?.pid})`);
      await eventually(async () =>
        expect(
          (await database.db.execute(sql`select 1 from pg_stat_activity where pid = ${rows[0]?.pid}`)).rows,
        ).toEqual([]),
      );
      await tx.execute(sql`select 1`);
    });
    await expect(cut).rejects.toThrow();
    expect(await database.healthy()).toBe(true);
  });

  it('says in one sentence that it did not answer', async () => {
    const logger = { info: () => undefined, warn: () => undefined };
    await expect(openDatabase({ url: 'postgres://sluice:x@127.0.0.1:1/sluice', logger, waitMs: 0 })).rejects.toThrow(
      /did not answer within 0 s/,
    );
  });
});
