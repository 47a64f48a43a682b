import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, type EventPublisher, type OutgoingEvent } from '@sluice/contracts';
import { settledCall } from '../fixtures.ts';
import { openOutbox, type OpenedOutbox } from './open-outbox.ts';
import { createOutboxPublisher, type OutboxPublisher } from './outbox-publisher.ts';

describe('the outbox publisher', () => {
  let dir: string;
  let opened: OpenedOutbox;
  let running: OutboxPublisher | undefined;
  let taken: OutgoingEvent[];
  let waiting: { count: number; done: () => void } | undefined;

  const bus = (refuse: (event: OutgoingEvent, attempt: number) => boolean = () => false): EventPublisher => {
    let attempt = 0;
    return {
      publish: async (events) => {
        attempt += 1;
        const refused = events.filter((event) => refuse(event, attempt));
        taken.push(...events.filter((event) => !refused.includes(event)));
        if (waiting !== undefined && taken.length >= waiting.count) waiting.done();
        return refused.map((event) => event.id);
      },
      close: async () => undefined,
    };
  };
  const start = (publisher: EventPublisher): void => {
    running = createOutboxPublisher({ outbox: opened.outbox, publisher, clock: systemClock, batch: 4, retryMs: 2, idleMs: 5, republishAfterMs: 30 });
    running.start();
  };
  const takenCount = (count: number): Promise<void> =>
    new Promise((done) => {
      waiting = { count, done };
      if (taken.length >= count) done();
    });
  const append = async (from: number, to: number): Promise<void> => {
    for (let n = from; n <= to; n += 1) await opened.outbox.appendSettled(settledCall(n));
  };

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'outbox-'));
    opened = openOutbox({ dir, gatewayId: 'gw-1', clock: systemClock, maxBytes: 1e9, maxAgeMs: 1e9, segmentBytes: 3000 });
    taken = [];
    waiting = undefined;
  });
  afterEach(async () => {
    await running?.stop();
    await opened.outbox.close();
    rmSync(dir, { recursive: true });
  });

  it('publishes in order, with the attributes that subscriptions filter by', async () => {
    await append(1, 6);
    start(bus());
    await append(7, 9);
    await takenCount(9);
    expect(taken.slice(0, 9).map((event) => event.id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `1-${n}`));
    expect(taken[0]).toMatchObject({ topic: 'usage-events', attributes: { type: 'call.settled', tenant_id: 'acme', gateway_id: 'gw-1' } });
    expect(JSON.parse(taken[8]?.body ?? '')).toMatchObject({ epoch: 1, sequence: 9, gateway_id: 'gw-1' });
  });

  it('sends again only what was refused, and survives a spine that is down', async () => {
    await append(1, 4);
    start(bus((event, attempt) => attempt <= 3 || (attempt === 4 && event.id === '1-2')));
    await takenCount(4);
    expect(taken.map((event) => event.id)).toEqual(['1-1', '1-3', '1-4', '1-2']);
  });

  it('publishes everything unacknowledged again when the ledger makes no progress, as after a purged queue', async () => {
    await append(1, 5);
    start(bus());
    await takenCount(5);
    opened.outbox.acknowledge(1, 3);
    await takenCount(7);
    expect(taken.slice(5, 7).map((event) => event.id)).toEqual(['1-4', '1-5']);
  });

  it('publishes nothing again once the ledger has it', async () => {
    await append(1, 3);
    start(bus());
    await takenCount(3);
    opened.outbox.acknowledge(1, 3);
    await append(4, 4);
    await takenCount(4);
    opened.outbox.acknowledge(1, 4);
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(taken).toHaveLength(4);
  });
});
