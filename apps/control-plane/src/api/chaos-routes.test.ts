import { createFakeClock, eventually } from '@sluice/testing';
import type { PoisonMessage } from '../chaos/poison.ts';
import { createPoisonSender } from '../chaos/poison-sender.ts';
import { startTestPlane, type TestPlane } from '../testing/start-test-plane.ts';
import { ChaosMenuItem, POISON_KINDS, TOPOLOGY } from '@sluice/contracts';

const broken = { audit: false, metering: false, anomaly: false };
const sent: { target: string; messages: readonly Pick<PoisonMessage, 'body' | 'attributes'>[] }[] = [];
const redriven: string[] = [];
const faults = new Set<string>();
const clock = createFakeClock(Date.UTC(2026, 5, 1));

let test: TestPlane;
beforeAll(async () => {
  const quiet = { moved: 0, left: 0, refused: 0, native: false, finished: true };
  test = await startTestPlane(
    {
      queues: {
        readStates: async () => [
          {
            queue: 'audit',
            dlq: 'audit-dlq',
            depth: 2,
            oldest_age_s: 4,
            topic: 'audit-events',
            waiting: 1,
            in_flight: 0,
            consumer: 'control-plane',
          },
        ],
        knows: (queue) => queue === 'audit',
        redrive: async (queue) => (redriven.push(queue), { ...quiet, moved: 2 }),
        deadLetters: async (_queue, limit) => [
          { message_id: `m-${limit}`, reason: 'no luck', sent_at: null, body: '{}', body_bytes: 2, attributes: {} },
        ],
        discard: async (_queue, ids) => ({ discarded: ids.length, left: 0 }),
      },
      chaos: {
        flood: () => undefined,
        canFlood: (tenant) => tenant === 'initech',
        sim: {
          setFault: async (provider) => void faults.add(provider),
          clearFault: async (provider) => void faults.delete(provider),
        },
        setConsumerBroken: (consumer, value) => {
          broken[consumer] = value;
        },
        poison: createPoisonSender({
          topology: TOPOLOGY,
          clock,
          newId: () => String(sent.length),
          publisher: {
            publish: async (events) => (
              sent.push({ target: events[0]?.topic ?? '', messages: events }),
              events.slice(0, 1).map((event) => event.id)
            ),
          },
          sendToQueue: async (queue, messages) => (sent.push({ target: queue, messages }), []),
        }),
      },
    },
    clock,
  );
});
afterAll(() => test.close());

const chaos = async (what: string, body?: unknown) => {
  const res = await test.call('POST', `/api/chaos/${what}`, body);
  return { status: res.status, body: (await res.json()) as Record<string, unknown> };
};
const audited = (type: string) => test.audited.filter((record) => record.type === type);

/** A gateway that follows the stream: the names of the events it got, and whether it was cut. */
async function follow(gateway: string) {
  const res = await fetch(`${test.url}/internal/config/stream?gateway=${gateway}&since=0&store=valkey`, {
    headers: { authorization: 'Bearer gateway-token' },
  });
  const seen = { status: res.status, text: '', ended: false };
  if (res.body === null || res.status !== 200) return seen;
  void (async () => {
    for await (const chunk of res.body ?? []) seen.text += Buffer.from(chunk as Uint8Array).toString();
    seen.ended = true;
  })().catch(() => undefined);
  await eventually(() => expect(seen.text).toContain('event: snapshot'));
  return seen;
}

describe('chaos of single parts', () => {
  it('orders the gateway that is named, or the only one, to be killed, and says which are there', async () => {
    expect((await chaos('gateway', {})).status).toBe(409);
    const gateway = await follow('gw-1');
    expect(await chaos('gateway', { gateway: 'gw-9' })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'gateway', message: expect.stringContaining('connected: gw-1') }] },
    });
    expect(await chaos('gateway', {})).toMatchObject({ status: 202, body: { kind: 'gateway', target: 'gw-1' } });
    await eventually(() => expect(gateway.text).toContain('event: chaos\ndata: {"action":"kill"}'));
    expect(audited('chaos.gateway')).toMatchObject([{ target: { kind: 'gateway', id: 'gw-1' } }]);
  });

  it('cuts the configuration stream for its time, and stop mends it at once', async () => {
    const gateway = await follow('gw-2');
    expect(await chaos('stream', { seconds: 30 })).toMatchObject({
      status: 202,
      body: { kind: 'stream', target: 'all', ends_at: '2026-06-01T00:00:30.000Z' },
    });
    await eventually(() => expect(gateway.ended).toBe(true));
    expect((await follow('gw-2')).status).toBe(503);
    await chaos('stop');
    expect((await follow('gw-2')).status).toBe(200);
  });

  it('cuts one gateway and no other', async () => {
    await follow('gw-3');
    expect((await chaos('stream', { gateway: 'gw-3', seconds: 5 })).body['target']).toBe('gw-3');
    expect((await follow('gw-3')).status).toBe(503);
    expect((await follow('gw-4')).status).toBe(200);
    await chaos('stop');
    expect((await follow('gw-3')).status).toBe(200);
  });

  it('orders a gateway to put its clock wrong and to find its disk full, for their time, and undoes both on stop', async () => {
    const gateway = await follow('gw-5');
    expect((await chaos('clock', { gateway: 'gw-5', offset_ms: 0 })).status).toBe(400);
    expect(await chaos('clock', { gateway: 'gw-5', offset_ms: 60_000, seconds: 9 })).toMatchObject({
      status: 202,
      body: { kind: 'clock', target: 'gw-5' },
    });
    expect(await chaos('disk', { gateway: 'gw-5', seconds: 9 })).toMatchObject({
      status: 202,
      body: { kind: 'disk', target: 'gw-5' },
    });
    await eventually(() => expect(gateway.text).toContain('data: {"action":"disk_full","seconds":9}'));
    expect(gateway.text).toContain('data: {"action":"clock","offset_ms":60000,"seconds":9}');
    await chaos('stop');
    await eventually(() => expect(gateway.text).toContain('data: {"action":"mend","what":"all"}'));
    expect([...audited('chaos.clock'), ...audited('chaos.disk')]).toHaveLength(2);
  });

  it('the menu says of each failure what it does and what to expect, and why one cannot be started', async () => {
    const items = ChaosMenuItem.array().parse(await (await test.call('GET', '/api/chaos/menu')).json());
    expect(items.filter(({ expects }) => expects.length === 0)).toEqual([]);
    expect(items.find(({ id }) => id === 'flood-initech')).toMatchObject({
      label: 'initech · 120/s',
      path: '/api/chaos/flood',
      expects: [
        expect.stringContaining('every tenant but initech is unchanged'),
        'initech is throttled and shed',
        'then: calls are answered again, by themselves',
      ],
    });
    expect(items.find(({ id }) => id === 'flood-acme')?.unavailable).toContain('demo key');
    expect(items.find(({ id }) => id === 'valkey-cut')?.unavailable).toContain('memory');
    for (const { path } of items)
      expect(test.plane.routes.map((route) => `${route.method} ${route.path}`)).toContain(`post ${path}`);
  });

  it('a fault of every provider is given to each, and taken from each', async () => {
    faults.clear();
    expect(await chaos('provider', { provider: 'all', kind: 'down', seconds: 30 })).toMatchObject({
      status: 202,
      body: { kind: 'provider down', target: 'all' },
    });
    expect([...faults].sort()).toEqual(['primary', 'secondary']);
    await chaos('stop');
    expect([...faults]).toEqual([]);
  });

  it('says that there is no Valkey where limits are kept in memory', async () => {
    expect(await chaos('valkey', { seconds: 5 })).toMatchObject({
      status: 409,
      body: { title: 'There is no Valkey in this stack' },
    });
    expect(audited('chaos.valkey')).toEqual([]);
  });

  it('mends every consumer on stop, and refuses one that does not exist', async () => {
    expect((await chaos('consumer', { consumer: 'audit', broken: true, seconds: 60 })).status).toBe(202);
    expect((await chaos('consumer', { consumer: 'metering', broken: true, seconds: 60 })).status).toBe(202);
    expect(broken).toEqual({ audit: true, metering: true, anomaly: false });
    await chaos('stop');
    expect(broken).toEqual({ audit: false, metering: false, anomaly: false });
    expect((await chaos('consumer', { consumer: 'router', broken: true })).status).toBe(400);
  });

  it('sends poison of every kind to a queue, or chosen kinds to a topic, and says what was refused', async () => {
    const all = await chaos('poison', { queue: 'audit' });
    expect(all).toMatchObject({
      status: 202,
      body: {
        target: 'audit',
        sent: POISON_KINDS.length,
        refused: 0,
        kinds: Object.fromEntries(POISON_KINDS.map((kind) => [kind, 1])),
      },
    });
    expect(sent.at(-1)?.messages).toHaveLength(POISON_KINDS.length);
    expect(
      await chaos('poison', { topic: 'anomaly-events', count: 5, kinds: ['not_json', 'empty_object'] }),
    ).toMatchObject({ status: 202, body: { sent: 4, refused: 1, kinds: { not_json: 3, empty_object: 2 } } });
    expect((await chaos('poison', { queue: 'nowhere' })).status).toBe(400);
    expect((await chaos('poison', { queue: 'audit', topic: 'audit-events' })).status).toBe(400);
    expect((await chaos('poison', { count: 501 })).status).toBe(400);
    expect(audited('chaos.poison')).toHaveLength(2);
  });
});

describe('dead letters', () => {
  it('are listed unpaged, looked at with their reasons, redriven and discarded, and what changes them is audited', async () => {
    expect(await (await test.call('GET', '/api/dlqs')).json()).toEqual([
      { queue: 'audit', dlq: 'audit-dlq', depth: 2, oldest_age_s: 4 },
    ]);
    expect(await (await test.call('GET', '/api/dlqs/audit/messages?limit=3')).json()).toMatchObject({
      queue: 'audit',
      messages: [{ message_id: 'm-3', reason: 'no luck' }],
    });
    expect(await (await test.call('POST', '/api/dlqs/audit/redrive')).json()).toEqual({
      queue: 'audit',
      moved: 2,
      left: 0,
      refused: 0,
      native: false,
      finished: true,
    });
    expect(await (await test.call('POST', '/api/dlqs/audit/discard', { message_ids: ['a', 'b'] })).json()).toEqual({
      queue: 'audit',
      discarded: 2,
      left: 0,
    });
    expect(redriven).toEqual(['audit']);
    expect(audited('dlq.redrive_started')).toHaveLength(1);
    expect(audited('dlq.redriven')).toMatchObject([{ target: { id: 'audit' }, after: { moved: 2, left: 0 } }]);
    expect(audited('dlq.discarded')).toHaveLength(1);
  });

  it('of a queue that is not declared are not found, and leave no record', async () => {
    const before = test.audited.length;
    for (const [method, path] of [
      ['GET', 'messages'],
      ['POST', 'redrive'],
      ['POST', 'discard'],
    ] as const) {
      expect(
        (await test.call(method, `/api/dlqs/nowhere/${path}`, method === 'POST' ? { message_ids: ['a'] } : undefined))
          .status,
      ).toBe(404);
    }
    expect(test.audited).toHaveLength(before);
    expect((await test.call('GET', '/api/dlqs/audit/messages?limit=1000')).status).toBe(400);
  });
});
