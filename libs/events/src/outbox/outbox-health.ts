import type { Clock } from '@sluice/contracts';
import type { SpineLogger } from '../spine-logger.ts';
import type { SegmentWriter } from './segment-writer.ts';

const PROBE_INTERVAL_MS = 1000;
/** Start and end of a call with its attempts, generously. */
export const BYTES_PER_OPEN_CALL = 8 * 1024;

/** Whether the disk takes records, and will take those of the calls that run. */
export interface OutboxHealth {
  /** True while writing works and the space allocated is enough for `openCalls` and one more. */
  well(openCalls: number): boolean;
  /** Takes the first space. */
  begin(): void;
  failed(error: unknown): void;
  /** For good: this process must write no more. */
  lost(why: string): void;
  /** Prepares space ahead, and tries again what failed. */
  tend(): Promise<void>;
}

export function createOutboxHealth({
  writer,
  clock,
  logger,
}: {
  writer: SegmentWriter;
  clock: Clock;
  logger?: SpineLogger;
}): OutboxHealth {
  let failure: unknown;
  let lost = false;
  let triedAt = -Infinity;

  /** Tries again at most once a second. */
  const retry = (): void => {
    if (failure === undefined || lost || clock.monotonic() - triedAt < PROBE_INTERVAL_MS) return;
    triedAt = clock.monotonic();
    try {
      writer.probe();
      failure = undefined;
      logger?.info({}, 'the outbox can be written again');
    } catch (error) {
      failure = error;
    }
  };

  const health: OutboxHealth = {
    begin() {
      try {
        writer.begin();
        void writer.prepare();
      } catch (error) {
        health.failed(error);
      }
    },
    well(openCalls) {
      retry();
      if (failure !== undefined || lost) return false;
      if (writer.freeBytes >= (openCalls + 1) * BYTES_PER_OPEN_CALL) return true;
      // Space that is only being prepared is no promise: the disk may refuse it when those that run have used up
      // the rest.
      return !writer.starved && writer.reserveNow();
    },
    failed(error) {
      if (failure === undefined) logger?.error({ err: error }, 'the outbox cannot be written; new calls are refused');
      failure = error;
      triedAt = clock.monotonic();
    },
    lost(why) {
      if (!lost) logger?.error({}, `${why}; new calls are refused`);
      lost = true;
    },
    async tend() {
      retry();
      if (!lost) await writer.prepare();
    },
  };
  return health;
}
