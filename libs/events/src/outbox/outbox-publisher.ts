import type { CallSettled, Clock, EventPublisher, OutgoingEvent } from '@sluice/contracts';
import type { SpineLogger } from '../spine-logger.ts';
import type { DurableOutbox } from './durable-outbox.ts';

export interface OutboxPublisherOptions {
  readonly outbox: DurableOutbox;
  readonly publisher: EventPublisher;
  readonly clock: Clock;
  readonly logger?: SpineLogger;
  /** Records per round; bounds memory. */
  readonly batch?: number;
  /**
   * Everything unacknowledged is published again when the ledger still lacks the oldest of it after this long;
   * doubles up to 5 min.
   */
  readonly republishAfterMs?: number;
  /**
   * Whether acknowledgements can arrive now; while they cannot, their absence says nothing and nothing is published
   * again.
   */
  readonly ledgerConnected?: () => boolean;
  /** First pause after a refusal or outage; doubles up to 5 s. */
  readonly retryMs?: number;
  /** How often it looks at acknowledgements when idle. */
  readonly idleMs?: number;
}

export interface OutboxPublisher {
  start(): void;
  /** Lets the running round finish; what is not published stays on disk. */
  stop(): Promise<void>;
}

const MAX_RETRY_MS = 5000;
const MAX_REPUBLISH_MS = 300_000;
/**
 * A record that is refused so often while others are taken must not hold up those behind it; it comes again with
 * what is unacknowledged.
 */
const MAX_ROUNDS = 10;

interface Place {
  readonly epoch: number;
  readonly sequence: number;
}

function isBefore(a: Place, b: Place): boolean {
  return a.epoch < b.epoch || (a.epoch === b.epoch && a.sequence < b.sequence);
}

/** The message of one settled call. */
export function usageMessage(event: CallSettled): OutgoingEvent {
  return {
    id: `${event.epoch}-${event.sequence}`,
    topic: 'usage-events',
    body: JSON.stringify(event),
    attributes: { type: event.type, tenant_id: event.tenant_id, gateway_id: event.gateway_id },
  };
}

/** The tag of a record whose texts the topic refused; its value says so. */
const TEXTS_LEFT_OUT = { 'sluice-texts': 'left out' } as const;

/** A settled call as the ledger needs it, without anything that a caller or a provider wrote. */
function withoutTexts(event: CallSettled): CallSettled {
  const { client_request_id, traceparent, feature, end_user, finish_reason, shadow, ...rest } = event;
  return { ...rest, model_requested: event.model ?? '', tags: TEXTS_LEFT_OUT };
}

/**
 * Carries settled calls from the outbox to the usage topic, in order of their sequence and at least once. It reads
 * back from disk, so the backlog of an outage costs no memory, and it believes only the ledger's acknowledgement:
 * messages that a broker took and lost are published again.
 */
export function createOutboxPublisher(options: OutboxPublisherOptions): OutboxPublisher {
  const { outbox, publisher, clock, logger } = options;
  const batch = options.batch ?? 200;
  const firstRepublishMs = options.republishAfterMs ?? 10_000;
  const firstRetryMs = options.retryMs ?? 100;
  const idleMs = options.idleMs ?? 500;

  let running: Promise<void> | undefined;
  let stopping = false;
  let wake = (): void => undefined;

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  let stopRetry = (): void => undefined;

  /**
   * The last try of records that are refused while others are taken: without their texts, so that the ledger has the
   * call with its tokens and its price, and what follows it is acknowledged. What is refused even so.
   */
  const sendPlain = async (
    events: readonly CallSettled[],
    refused: readonly OutgoingEvent[],
  ): Promise<OutgoingEvent[]> => {
    const ids = new Set(refused.map(({ id }) => id));
    const plain = events.map((event) => usageMessage(withoutTexts(event))).filter(({ id }) => ids.has(id));
    const again = new Set(await publisher.publish(plain).catch(() => [...ids]));
    const taken = [...ids].filter((id) => !again.has(id));
    if (taken.length > 0)
      logger?.error({ taken }, 'usage events are refused for what their texts hold; they are published without them');
    if (again.size > 0)
      logger?.error(
        { refused: [...again] },
        'usage events are refused again and again while others are taken; they are tried later',
      );
    return refused.filter(({ id }) => again.has(id));
  };

  /**
   * Sends until all are taken or it is stopped; the last one of what it sent.
   *
   * @param behind gives the records that follow, where only they can tell a refused record from an outage.
   */
  const send = async (
    first: readonly CallSettled[],
    behind: () => readonly CallSettled[],
  ): Promise<Place | undefined> => {
    let events = first;
    let left = events.map(usageMessage);
    let retryMs = firstRetryMs;
    for (let round = 1; left.length > 0 && !stopping; round += 1) {
      const refused = new Set(await publisher.publish(left).catch(() => left.map((event) => event.id)));
      const progressed = refused.size < left.length;
      left = left.filter((event) => refused.has(event.id));
      if (left.length === 0) break;
      if (round >= MAX_ROUNDS && left.length < events.length) {
        left = await sendPlain(events, left);
        if (left.length > 0) return events.at(-1);
        break;
      }
      if (round >= MAX_ROUNDS && events.length < 2 * batch) {
        const more = behind();
        events = [...events, ...more];
        left.push(...more.map(usageMessage));
      }
      logger?.warn({ refused: left.length, retryMs }, 'usage events were refused; sent again');
      // Appends wake the idle loop, not this pause: an outage must not be hammered.
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, retryMs);
        stopRetry = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      retryMs = progressed ? firstRetryMs : Math.min(MAX_RETRY_MS, retryMs * 2);
    }
    if (left.length === 0) for (const event of events) outbox.markPublished(event.epoch, event.sequence);
    return events.at(-1);
  };

  const run = async (): Promise<void> => {
    let reader = outbox.reader();
    let sentTo: Place = { epoch: 0, sequence: 0 };
    let oldest: Place | undefined;
    let oldestSince = clock.monotonic();
    let republishMs = firstRepublishMs;

    /** The ledger lacks the same record for too long although it was sent. */
    const stalled = (): boolean => {
      const now = clock.monotonic();
      const pending = outbox.firstPending();
      const moved = pending === undefined || oldest === undefined || isBefore(oldest, pending);
      if (moved) republishMs = firstRepublishMs;
      if (moved || isBefore(sentTo, pending) || options.ledgerConnected?.() === false) oldestSince = now;
      oldest = pending;
      return now - oldestSince >= republishMs;
    };

    while (!stopping) {
      try {
        const events = reader.next(batch);
        if (events.length > 0) sentTo = (await send(events, () => reader.next(batch))) ?? sentTo;
        else await pause(idleMs);
        if (!stalled()) continue;
        logger?.warn(
          { pending: outbox.stats.pending, republishMs, oldest },
          'the ledger does not have what was sent; everything unacknowledged is published again',
        );
        reader = outbox.reader();
        sentTo = { epoch: 0, sequence: 0 };
        republishMs = Math.min(MAX_REPUBLISH_MS, republishMs * 2);
      } catch (error) {
        logger?.error({ err: error }, 'the outbox could not be read; tried again');
        await pause(MAX_RETRY_MS);
        reader = outbox.reader();
      }
    }
  };

  let unsubscribe = (): void => undefined;
  return {
    start: () => {
      if (running !== undefined) return;
      stopping = false;
      unsubscribe = outbox.onSettled(() => wake());
      running = run();
    },
    stop: async () => {
      stopping = true;
      unsubscribe();
      wake();
      stopRetry();
      await running;
      running = undefined;
    },
  };
}
