import type { EventOrigin, LimitScope, LimitStore } from '@sluice/contracts';
import type { UnplacedSettled } from './usage-events.ts';

const TRY_EVERY_MS = 1_000;

/** A call that ended while the disk took no record. */
export interface LateRecord {
  readonly event: UnplacedSettled;
  /** Limits of its key; what it used is counted when it is recorded, so that counters and records stay the same. */
  readonly scope: LimitScope | undefined;
}

/**
 * Records what could not be recorded when it ended, as soon as the disk takes it. New calls are refused meanwhile,
 * so no more wait here than were running. A process that ends before has their starts on the disk, and the next one
 * settles them as interrupted.
 */
export interface LateRecords {
  add(record: LateRecord): void;
  readonly waiting: number;
  /** Tries those that wait, in their order, until one is not taken. */
  retry(): Promise<void>;
  start(): void;
  /** Tries once more. */
  close(): Promise<void>;
}

export interface LateRecordsDeps {
  readonly outbox: { appendSettled(event: UnplacedSettled): Promise<EventOrigin | undefined> };
  readonly limits: Pick<LimitStore, 'replay'>;
  /** The record at this place is in the quota counters now. */
  readonly onCounted: (origin: EventOrigin) => void;
  /** Use that was recorded could not be counted. */
  readonly onFault: (error: unknown) => void;
}

export function createLateRecords({ outbox, limits, onCounted, onFault }: LateRecordsDeps): LateRecords {
  const waiting: LateRecord[] = [];
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const recordAll = async (): Promise<void> => {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      let origin: EventOrigin | undefined;
      try {
        origin = await outbox.appendSettled(next.event);
      } catch {
        return;
      }
      waiting.shift();
      const { event, scope } = next;
      try {
        const replayed =
          scope === undefined
            ? undefined
            : limits.replay({
                scope,
                atMs: Date.parse(event.occurred_at),
                usage: event.usage,
                costNanoUsd: event.billed_nanousd,
                ...(origin && { origin }),
              });
        // A store in memory has counted it now, and whoever compares its counters has to know that in the same turn.
        if (replayed !== undefined) await replayed;
        if (origin !== undefined) onCounted(origin);
      } catch (error) {
        onFault(error);
      }
    }
  };

  const late: LateRecords = {
    add: (record) => void waiting.push(record),
    get waiting() {
      return waiting.length;
    },
    retry() {
      running ??= recordAll().finally(() => {
        running = undefined;
      });
      return running;
    },
    start() {
      timer = setInterval(() => void late.retry(), TRY_EVERY_MS);
      timer.unref();
    },
    async close() {
      clearInterval(timer);
      await late.retry();
    },
  };
  return late;
}
