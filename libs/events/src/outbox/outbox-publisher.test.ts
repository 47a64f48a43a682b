import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeClock, eventually } from '@sluice/testing';
import { CallSettled, systemClock, type EventPublisher, type OutgoingEvent } from '@sluice/contracts';
import { settledCall } from '../fixtures.ts';
import type { OpenedOutbox } from './durable-outbox.ts';
import { openOutbox } from './open-outbox.ts';
import { createOutboxPublisher, type OutboxPublisher } from './outbox-publisher.ts';

describe('the outbox publisher', () => {
  let dir: string;
  let opened: OpenedOutbox;
  let running: OutboxPublisher | undefined;
  let taken: OutgoingEvent[];
  let connected = true;
  /** The publisher's: what it waits for the ledger passes as `untilTaken` says, however slow the machine is. */
  let clock: ReturnType<typeof createFakeClock>;
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
  const ids = (events: readonly OutgoingEvent[]): string[] => events.map((event) => event.id.split('-')[1] as string);
  const REPUBLISH_MS = 10_000;
  /** How often the publisher has looked at the clock: at least once a pause. */
  let looks = 0;
  const start = (publisher: EventPublisher): void => {
    running = createOutboxPublisher({
      outbox: opened.outbox,
      publisher,
      clock: { ...clock, monotonic: () => ((looks += 1), clock.monotonic()) },
      batch: 4,
      retryMs: 2,
      idleMs: 5,
      republishAfterMs: REPUBLISH_MS,
      ledgerConnected: () => connected,
    });
    running.start();
  };
  /** Lets time pass until so many messages are taken; at least one pause of the publisher lies between two steps. */
  const untilTaken = (count: number): Promise<void> =>
    eventually(() => {
      clock.advance(REPUBLISH_MS);
      expect(taken.length).toBeGreaterThanOrEqual(count);
    });
  /** Lets much time pass, over several pauses of the publisher. */
  const wait = async (): Promise<void> => {
    for (let n = 0; n < 4; n += 1) {
      clock.advance(10 * REPUBLISH_MS);
      const before = looks;
      await eventually(() => expect(looks).toBeGreaterThan(before + 2));
    }
  };
  const takenCount = (count: number): Promise<void> =>
    new Promise((done) => {
      waiting = { count, done };
      if (taken.length >= count) done();
    });
  const append = async (from: number, to: number): Promise<void> => {
    for (let n = from; n <= to; n += 1) await opened.outbox.appendSettled(settledCall(n));
    // The publisher sees only what is on the disk.
    const { epoch, lastSequence } = opened.outbox.stats;
    await eventually(() =>
      expect(
        opened.outbox
          .reader()
          .next(1000)
          .some((event) => event.epoch === epoch && event.sequence === lastSequence),
      ).toBe(true),
    );
  };

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'outbox-'));
    opened = openOutbox({
      dir,
      gatewayId: 'gw-1',
      clock: systemClock,
      maxBytes: 1e9,
      maxAgeMs: 1e9,
      segmentBytes: 1000,
      fsyncIntervalMs: 2,
    });
    taken = [];
    clock = createFakeClock();
    connected = true;
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
    expect(ids(taken.slice(0, 9))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => String(n)));
    expect(taken[0]).toMatchObject({
      topic: 'usage-events',
      attributes: { type: 'call.settled', tenant_id: 'acme', gateway_id: 'gw-1' },
    });
    expect(JSON.parse(taken[8]?.body ?? '')).toMatchObject({
      epoch: opened.outbox.epoch,
      sequence: 9,
      gateway_id: 'gw-1',
    });
  });

  it('sends again only what was refused, and survives a spine that is down', async () => {
    await append(1, 4);
    start(bus((event, attempt) => attempt <= 3 || (attempt === 4 && event.id.endsWith('-2'))));
    await takenCount(4);
    expect(ids(taken)).toEqual(['1', '3', '4', '2']);
  });

  it('publishes everything unacknowledged again when the ledger makes no progress, as after a purged queue', async () => {
    await append(1, 5);
    start(bus());
    await takenCount(5);
    opened.outbox.acknowledge(opened.outbox.epoch, 3);
    await untilTaken(7);
    expect(ids(taken.slice(5, 7))).toEqual(['4', '5']);
  });

  it('publishes a gap again also while newer records keep coming and are acknowledged in a later epoch', async () => {
    await append(1, 3);
    const earlier = opened.outbox.epoch;
    opened.outbox.acknowledge(earlier, 1);
    await opened.outbox.close();
    opened = openOutbox({
      dir,
      gatewayId: 'gw-1',
      clock: systemClock,
      maxBytes: 1e9,
      maxAgeMs: 1e9,
      segmentBytes: 1000,
      fsyncIntervalMs: 2,
    });
    start(bus());
    const again = (): number => taken.filter((event) => event.id === `${earlier}-2`).length;
    for (let n = 4; again() < 2; n += 1) {
      await append(n, n);
      opened.outbox.acknowledge(opened.outbox.epoch, n - 3 - 1);
      clock.advance(REPUBLISH_MS / 4);
    }
    expect(again()).toBe(2);
  });

  it('publishes nothing again while acknowledgements cannot arrive', async () => {
    connected = false;
    await append(1, 3);
    start(bus());
    await takenCount(3);
    await wait();
    expect(taken).toHaveLength(3);
    connected = true;
    await untilTaken(6);
  });

  it('a record that is refused for ever holds up none behind it', async () => {
    await append(1, 12);
    start(bus((event) => event.id.endsWith('-2')));
    await takenCount(11);
    expect(
      ids(taken.slice(0, 11))
        .map(Number)
        .sort((a, b) => a - b),
    ).toEqual([1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });

  it('a record that is refused for ever holds up none behind it, also when it is alone', async () => {
    await append(1, 1);
    let refusals = 0;
    start(bus((event) => event.id.endsWith('-1') && (refusals += 1) > 0));
    await eventually(() => expect(refusals).toBeGreaterThan(0));
    await append(2, 3);
    await takenCount(2);
    expect(ids(taken.slice(0, 2))).toEqual(['2', '3']);
  });

  it('a record that is refused for what its texts hold is published without them, and nothing behind it waits', async () => {
    await append(1, 1);
    await opened.outbox.appendSettled({ ...settledCall(2), feature: 'refused words', end_user: 'refused words' });
    await append(3, 4);
    start(bus((event) => event.body.includes('refused words')));
    await takenCount(4);
    expect(ids(taken).sort()).toEqual(['1', '2', '3', '4']);
    const plain = JSON.parse(taken.find((event) => event.id.endsWith('-2'))?.body ?? '') as CallSettled;
    const { usage, billed_nanousd } = settledCall(2);
    expect(plain).toMatchObject({ sequence: 2, usage, billed_nanousd, tags: { 'sluice-texts': 'left out' } });
    expect(plain.feature).toBeUndefined();
    // What it holds fits the contract, so the ledger takes it and acknowledges what follows.
    expect(CallSettled.safeParse({ ...plain, key_id: 'key000000002' }).success).toBe(true);
  });

  it('publishes nothing again once the ledger has it', async () => {
    await append(1, 3);
    start(bus());
    await takenCount(3);
    opened.outbox.acknowledge(opened.outbox.epoch, 3);
    await append(4, 4);
    await takenCount(4);
    opened.outbox.acknowledge(opened.outbox.epoch, 4);
    await wait();
    expect(taken).toHaveLength(4);
  });
});
