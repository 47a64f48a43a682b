import { sql } from 'drizzle-orm';
import { EVENT_SCHEMA, POISON_KINDS, TOPOLOGY, type EventConsumer, type TopicName } from '@sluice/contracts';
import { createMemoryBus } from '@sluice/events/testing';
import { createFakeClock } from '@sluice/testing';
import { poisonMessages } from '../chaos/poison.ts';
import type { Database } from '../db/open-database.ts';
import { startTestServer, type TestServer } from '../db/test-database.ts';
import { createLedger } from '../ledger/create-ledger.ts';
import { settledCall } from '../ledger/testing.ts';
import { createConsumers, type ConsumerName } from './create-consumers.ts';

const clock = createFakeClock(Date.parse('2026-03-10T12:00:00.000Z'));
const at = '2026-03-10T12:00:00.000Z';
const NUL = '\u0000';

const auditEvent = (id: string, extra: object = {}) => ({
  schema: EVENT_SCHEMA,
  event_id: id,
  occurred_at: at,
  type: 'key.created',
  actor: { kind: 'operator', id: 'ops' },
  target: { kind: 'key', id },
  ...extra,
});
const anomaly = (id: string, extra: object = {}) => ({
  schema: EVENT_SCHEMA,
  event_id: id,
  occurred_at: at,
  type: 'breaker.opened',
  gateway_id: 'gw',
  cell_id: 'c',
  count: 1,
  subject: 's',
  message: 'm',
  ...extra,
});
const call = (n: number, extra: object = {}) => ({ ...settledCall(n), ...extra });

let server: TestServer;
let database: Database;
beforeAll(async () => {
  server = await startTestServer();
  database = await server.createDatabase();
});
afterAll(() => server.stop());

/** Sends bodies to a queue's consumer over the bus; resolves with the reasons of those that became dead letters. */
async function deliver(topic: TopicName, queue: ConsumerName, bodies: readonly string[]): Promise<string[]> {
  const bus = createMemoryBus(TOPOLOGY);
  const built: EventConsumer[] = [];
  createConsumers({
    ledger: createLedger({ db: database.db, clock }),
    db: database.db,
    clock,
    consumerFactory: (name, handler) => {
      const consumer = bus.consumer(name, handler);
      if (name === queue) built.push(consumer);
      return consumer;
    },
  });
  // Everything waits before the first receive, so that good and bad stand in one batch.
  await bus.publisher.publish(
    bodies.map((body, n) => ({ id: String(n), topic, body, attributes: { type: 'breaker.opened' } })),
  );
  built[0]?.start();
  await bus.idle();
  expect(bus.messages(queue)).toEqual([]);
  return bus.messages(`${queue}-dlq`).map((letter) => letter.attributes['sluice_dead_letter_reason'] ?? '');
}

const count = async (table: string): Promise<number> =>
  Number(
    (await database.db.execute<{ n: string }>(sql`select count(*) as n from ${sql.identifier(table)}`)).rows[0]?.n,
  );

const HOSTILE: Record<string, object> = {
  'a NUL character': { reason: `a${NUL}b`, message: `a${NUL}b`, finish_reason: `a${NUL}b` },
  'half of a surrogate pair': { reason: 'a\ud800b', message: 'a\ud800b', finish_reason: 'a\ud800b' },
  'an unknown version': { schema: 'sluice.event/2' },
  'a wrong type': { occurred_at: 17 },
  'a date that does not exist': { occurred_at: '2026-02-30T10:00:00.000Z' },
  'the year 0': { occurred_at: '0000-01-01T00:00:00.000Z' },
  'a time to come': { occurred_at: '2026-03-12T12:00:00.000Z' },
};
const REASON: Record<string, RegExp> = {
  'a NUL character': /cannot be stored: .*\\u0000|unsupported Unicode/i,
  'half of a surrogate pair': /cannot be stored/,
  'an unknown version': /version sluice\.event\/2 is not known/,
  'a wrong type': /^occurred_at: /,
  'a date that does not exist': /^occurred_at: /,
  'the year 0': /cannot be stored|occurred_at/,
  'a time to come': /^occurred_at: .* more than a day to come/,
};

describe.each([
  {
    queue: 'audit',
    topic: 'audit-events',
    table: 'audit_log',
    make: (n: number, extra: object) => auditEvent(`aud-${n}`, extra),
  },
  {
    queue: 'anomaly',
    topic: 'anomaly-events',
    table: 'anomalies',
    make: (n: number, extra: object) => anomaly(`ano-${n}`, extra),
  },
  { queue: 'metering', topic: 'usage-events', table: 'ledger', make: (n: number, extra: object) => call(n, extra) },
] as const)('the $queue consumer', ({ queue, topic, table, make }) => {
  let n = 100;

  it.each(Object.keys(HOSTILE))(
    'dead-letters an event with %s and its reason, and stores the other nine of its batch',
    async (what) => {
      const before = await count(table);
      const bodies = Array.from({ length: 10 }, (_, i) =>
        JSON.stringify(make((n += 1), i === 4 ? (HOSTILE[what] ?? {}) : {})),
      );
      const reasons = await deliver(topic, queue, bodies);
      expect(reasons).toEqual([expect.stringMatching(REASON[what] ?? /./)]);
      expect(await count(table)).toBe(before + 9);
    },
  );

  it('survives every kind of poison, stores none of it, and still takes what is good', async () => {
    const before = await count(table);
    const poison = poisonMessages(topic, POISON_KINDS.length, [], new Date(at), () => String((n += 1)));
    const reasons = await deliver(topic, queue, [
      ...poison.map(({ body }) => body),
      JSON.stringify(make((n += 1), {})),
    ]);
    expect(reasons).toHaveLength(POISON_KINDS.length);
    expect(reasons.every((reason) => reason.length > 5)).toBe(true);
    expect(await count(table)).toBe(before + 1);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
