import type { EventPublisher, OutgoingEvent } from '@sluice/contracts';
import type { SpineLogger } from '../spine-logger.ts';

export interface EventQueueOptions {
  readonly publisher: EventPublisher;
  readonly logger?: SpineLogger;
  /** Events that may wait; later ones are dropped. 2,000 when absent. */
  readonly maxWaiting?: number;
  /** First pause after a refusal or outage; doubles up to 5 s. */
  readonly retryMs?: number;
}

/** A publisher for events that may be lost: it takes them at once and never fails. */
export interface EventQueue extends EventPublisher {
  /** Events that were dropped because too many waited, or because the process ended. */
  readonly dropped: number;
  readonly waiting: number;
}

const BATCH = 100;
const MAX_RETRY_MS = 5000;

/**
 * Carries what is not usage (anomalies, refused keys) in bounded memory, apart from the outbox and its publisher,
 * so that no flood of it and no outage can hold up a record that is billed. What does not fit is dropped and
 * counted.
 */
export function createEventQueue({
  publisher,
  logger,
  maxWaiting = 2000,
  retryMs: firstRetryMs = 100,
}: EventQueueOptions): EventQueue {
  let waiting: OutgoingEvent[] = [];
  let dropped = 0;
  let closing = false;
  let running: Promise<void> | undefined;
  let wake = (): void => undefined;

  const drain = async (): Promise<void> => {
    let retryMs = firstRetryMs;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      const refused = new Set(await publisher.publish(batch).catch(() => batch.map((event) => event.id)));
      const again = batch.filter((event) => refused.has(event.id));
      waiting = [...again, ...waiting.slice(batch.length)];
      if (again.length === 0) {
        retryMs = firstRetryMs;
        continue;
      }
      if (closing) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, retryMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      retryMs = Math.min(MAX_RETRY_MS, retryMs * 2);
    }
  };

  const start = (): void => {
    running ??= drain().finally(() => {
      running = undefined;
      if (waiting.length > 0 && !closing) start();
    });
  };

  return {
    publish(events) {
      const room = Math.max(0, maxWaiting - waiting.length);
      const refused = events.slice(closing ? 0 : room).map((event) => event.id);
      if (refused.length > 0 && dropped === 0)
        logger?.warn(
          { waiting: waiting.length },
          'events other than usage are dropped, because the spine does not take them',
        );
      dropped += refused.length;
      waiting.push(...events.slice(0, events.length - refused.length));
      start();
      return Promise.resolve(refused);
    },
    get dropped() {
      return dropped;
    },
    get waiting() {
      return waiting.length;
    },
    /** Tries once more to send what waits; the publisher stays open. */
    async close() {
      closing = true;
      wake();
      await running;
      dropped += waiting.length;
      waiting = [];
    },
  };
}
