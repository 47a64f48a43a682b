import { buildApp } from 'fauxqs';
import {
  LOCAL_REGION,
  TOPOLOGY,
  type IncomingEvent,
  type OutgoingEvent,
  type QueueDeclaration,
} from '@sluice/contracts';
import { eventually } from '@sluice/testing';
import { readDeadLetters } from './dead-letters.ts';
import { provisionTopology } from './provisioner.ts';
import { readQueueStates } from './queue-states.ts';
import { redrive } from './redrive.ts';
import { createSnsPublisher } from './sns-publisher.ts';
import { createSpineClients, type SpineClients } from './spine-clients.ts';
import { createSqsConsumer } from './sqs-consumer.ts';

const declared = (name: string): QueueDeclaration => {
  const queue = TOPOLOGY.queues.find((candidate) => candidate.name === name);
  if (queue === undefined) throw new Error(name);
  return { ...queue, receiveWaitS: 1 };
};

const until = (what: () => Promise<boolean> | boolean): Promise<void> =>
  eventually(async () => expect(await what()).toBe(true), { timeoutMs: 45_000, everyMs: 50 });

describe('the spine on an emulator', () => {
  let app: ReturnType<typeof buildApp>;
  let spine: SpineClients;
  const event = (id: string, topic: OutgoingEvent['topic'], attributes: Record<string, string>): OutgoingEvent => ({
    id,
    topic,
    body: JSON.stringify({ id }),
    attributes,
  });
  const state = async (name: string) => (await readQueueStates(TOPOLOGY, spine)).find((queue) => queue.name === name);

  beforeEach(async () => {
    app = buildApp({ logger: false, defaultRegion: LOCAL_REGION });
    const endpoint = await app.listen({ host: '127.0.0.1', port: 0 });
    spine = createSpineClients({
      endpoint,
      region: LOCAL_REGION,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
    await provisionTopology(TOPOLOGY, spine);
  });
  afterEach(async () => {
    spine.close();
    await app.close();
  });

  it('delivers a usage event to every consumer queue of its topic', async () => {
    const many = Array.from({ length: 23 }, (_, n) =>
      event(`u-${n}`, 'usage-events', { type: 'call.settled', tenant_id: 'globex' }),
    );
    expect(await createSnsPublisher({ spine }).publish(many)).toEqual([]);
    expect(await state('metering')).toMatchObject({ waiting: 23, in_flight: 0, dlq_depth: 0 });
    expect(await state('router-usage')).toMatchObject({ waiting: 23 });
    expect(await state('audit')).toMatchObject({ waiting: 0 });
  });

  it("puts only acme's audit events into acme's export, and only throttling into the router's anomalies", async () => {
    await createSnsPublisher({ spine }).publish([
      event('a', 'audit-events', { type: 'key.created', tenant_id: 'acme' }),
      event('b', 'audit-events', { type: 'key.created', tenant_id: 'globex' }),
      event('c', 'audit-events', { type: 'session.started' }),
      event('d', 'anomaly-events', { type: 'refusals.throttled' }),
      event('e', 'anomaly-events', { type: 'breaker.opened' }),
      event('f', 'anomaly-events', { type: 'refusals.client_error' }),
    ]);
    expect(await state('audit')).toMatchObject({ waiting: 3 });
    expect(await state('acme-audit-export')).toMatchObject({ waiting: 1 });
    expect(await state('anomaly')).toMatchObject({ waiting: 2 });
    expect(await state('router-anomaly')).toMatchObject({ waiting: 1 });
  });

  it('hands raw bodies and attributes to the handler and deletes what it handled', async () => {
    const seen: IncomingEvent[] = [];
    const consumer = createSqsConsumer({
      spine,
      queue: declared('metering'),
      handler: async (batch) => (seen.push(...batch), { failed: new Map() }),
    });
    consumer.start();
    await createSnsPublisher({ spine }).publish([
      event('u', 'usage-events', { type: 'call.settled', tenant_id: 'acme' }),
    ]);
    await until(() => consumer.state.handled === 1);
    await consumer.stop();
    expect(seen[0]).toMatchObject({
      body: '{"id":"u"}',
      attributes: { type: 'call.settled', tenant_id: 'acme' },
      receiveCount: 1,
    });
    expect(await state('metering')).toMatchObject({ waiting: 0, in_flight: 0 });
  });

  it('dead-letters a poisoned message after three receives within 15 s, beside good ones, and redrive brings it back', async () => {
    const receives: number[] = [];
    const handled: string[] = [];
    const consumer = createSqsConsumer({
      spine,
      queue: declared('metering'),
      handler: async (batch) => {
        const failed = new Map<string, string>();
        for (const message of batch) {
          const { id } = JSON.parse(message.body) as { id: string };
          if (id === 'poison') receives.push(message.receiveCount);
          if (id === 'poison' && receives.length <= 3) failed.set(message.messageId, 'poisoned');
          else handled.push(id);
        }
        return { failed };
      },
    });
    consumer.start();
    await createSnsPublisher({ spine }).publish(
      ['good', 'poison'].map((id) => event(id, 'usage-events', { type: 'call.settled' })),
    );
    await until(async () => (await state('metering'))?.dlq_depth === 1);
    await until(() => consumer.state.deadLettered === 1);
    expect(receives).toEqual([1, 2, 3]);
    expect(handled).toEqual(['good']);
    expect(consumer.state).toMatchObject({ handled: 1, failed: 3, deadLettered: 1, lastError: 'poisoned' });
    expect(await readDeadLetters(declared('metering'), spine, 10)).toMatchObject([
      { body: '{"id":"poison"}', reason: 'poisoned', attributes: { type: 'call.settled' } },
    ]);
    expect(await redrive(declared('metering'), spine)).toEqual({
      moved: 1,
      left: 0,
      refused: 0,
      native: false,
      finished: true,
    });
    await until(() => handled.includes('poison'));
    await consumer.stop();
    expect(await state('metering')).toMatchObject({ waiting: 0, in_flight: 0, dlq_depth: 0 });
  });

  it('an outage of what the handler needs uses up one receive, not all of them', async () => {
    let up = false;
    const receives: number[] = [];
    await createSnsPublisher({ spine }).publish([event('a', 'audit-events', { type: 'key.created' })]);
    let asked = 0;
    const consumer = createSqsConsumer({
      spine,
      queue: declared('audit'),
      // The outage begins after the first look, as it does in life.
      ready: async () => (asked++ === 0 ? true : up),
      handler: async (batch) => {
        receives.push(...batch.map(({ receiveCount }) => receiveCount));
        if (!up) throw new Error('the database is away');
        return { failed: new Map() };
      },
    });
    consumer.start();
    await until(() => asked >= 6);
    expect(receives).toEqual([1]);
    up = true;
    await until(() => receives.length === 2);
    await consumer.stop();
    expect(receives).toEqual([1, 2]);
    expect(await state('audit')).toMatchObject({ waiting: 0, dlq_depth: 0 });
  });

  it('fails a body that is not JSON without the handler, and everything while broken', async () => {
    let calls = 0;
    const consumer = createSqsConsumer({
      spine,
      queue: declared('audit'),
      handler: async () => ((calls += 1), { failed: new Map() }),
    });
    consumer.start();
    await createSnsPublisher({ spine }).publish([
      { id: 'x', topic: 'audit-events', body: '{not json', attributes: {} },
    ]);
    await until(() => consumer.state.failed >= 1);
    consumer.setBroken(true);
    await createSnsPublisher({ spine }).publish([event('y', 'audit-events', {})]);
    await until(() => consumer.state.lastError === 'the consumer is broken on purpose');
    expect(calls).toBe(0);
    consumer.setBroken(false);
    await until(() => consumer.state.handled === 1);
    await consumer.stop();
    expect(calls).toBe(1);
  });

  it('gives refused ids back instead of throwing when SNS is away, and a consumer waits for SQS to come back', async () => {
    const url = new URL(await spine.sqs.config.endpoint!().then((end) => `http://${end.hostname}:${end.port}`));
    await app.close();
    const consumer = createSqsConsumer({
      spine,
      queue: declared('metering'),
      outageBackoffMs: 20,
      handler: async () => ({ failed: new Map() }),
    });
    consumer.start();
    const publisher = createSnsPublisher({ spine });
    expect(await publisher.publish([event('a', 'usage-events', {}), event('b', 'audit-events', {})])).toEqual([
      'a',
      'b',
    ]);
    await until(() => consumer.state.lastError !== undefined);
    app = buildApp({ logger: false, defaultRegion: LOCAL_REGION });
    await app.listen({ host: '127.0.0.1', port: Number(url.port) });
    await provisionTopology(TOPOLOGY, spine);
    expect(await publisher.publish([event('a', 'usage-events', {})])).toEqual([]);
    await until(() => consumer.state.handled === 1);
    await consumer.stop();
  });
});
