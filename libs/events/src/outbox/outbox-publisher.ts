import type { CallSettled, Clock, EventPublisher, OutgoingEvent } from '@sluice/contracts';
import type { SpineLogger } from '../spine-logger.ts';
import type { DurableOutbox } from './open-outbox.ts';

export interface OutboxPublisherOptions {
  readonly outbox: DurableOutbox;
  readonly publisher: EventPublisher;
  readonly clock: Clock;
  readonly logger?: SpineLogger;
  /** Records per round; bounds memory. */
  readonly batch?: number;
  /** Everything unacknowledged is published again when the ledger made no progress for this long; doubles up to 5 min. */
  readonly republishAfterMs?: number;
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

/** The message of one settled call. */
export function usageMessage(event: CallSettled): OutgoingEvent {
  return {
    id: `${event.epoch}-${event.sequence}`,
    topic: 'usage-events',
    body: JSON.stringify(event),
    attributes: { type: event.type, tenant_id: event.tenant_id, gateway_id: event.gateway_id },
  };
}

/**
 * Carries settled calls from the outbox to the usage topic, in order of their sequence and at least once. It reads back from
 * disk, so the backlog of an outage costs no memory, and it believes only the ledger's acknowledgement: messages that a broker
 * took and lost are published again.
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

  /** Sends until all are taken or it is stopped. */
  const send = async (events: readonly CallSettled[]): Promise<void> => {
    let left = events.map(usageMessage);
    let retryMs = firstRetryMs;
    while (left.length > 0 && !stopping) {
      const refused = new Set(await publisher.publish(left).catch(() => left.map((event) => event.id)));
      const progressed = refused.size < left.length;
      left = left.filter((event) => refused.has(event.id));
      if (left.length === 0) break;
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
  };
  let stopRetry = (): void => undefined;

  const run = async (): Promise<void> => {
    let reader = outbox.reader();
    let republishMs = firstRepublishMs;
    let seenAcknowledged = outbox.stats.lastSequence - outbox.stats.pending;
    let sentSinceProgress = 0;
    let progressAt = clock.monotonic();
    while (!stopping) {
      try {
        const events = reader.next(batch);
        if (events.length > 0) {
          if (sentSinceProgress === 0) progressAt = clock.monotonic();
          await send(events);
          sentSinceProgress += events.length;
        } else await pause(idleMs);
        const { pending, lastSequence } = outbox.stats;
        const acknowledged = lastSequence - pending;
        if (acknowledged > seenAcknowledged) {
          republishMs = firstRepublishMs;
          progressAt = clock.monotonic();
        }
        seenAcknowledged = acknowledged;
        if (pending === 0) sentSinceProgress = 0;
        else if (sentSinceProgress > 0 && events.length === 0 && clock.monotonic() - progressAt >= republishMs) {
          logger?.warn({ pending, republishMs }, 'the ledger made no progress; everything unacknowledged is published again');
          reader = outbox.reader();
          republishMs = Math.min(MAX_REPUBLISH_MS, republishMs * 2);
          progressAt = clock.monotonic();
        }
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
