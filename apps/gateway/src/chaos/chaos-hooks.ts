import type { ChaosOrder, Clock } from '@sluice/contracts';
import type { OutboxFiles } from '@sluice/events';
import type { Log } from '../log.ts';

/** What a gateway does to itself for a chaos test. Exists only where chaos is enabled. */
export interface ChaosHooks {
  /** The process's clock, which an order may put wrong; durations stay right, as they do when a wall clock is set. */
  readonly clock: Clock;
  /** The files of the outbox, which an order may make refuse writes for want of space. */
  readonly files: OutboxFiles;
  /** Obeys, and undoes it after the order's own time, also when the control plane is gone by then. */
  obey(order: ChaosOrder): void;
}

export interface ChaosHooksDeps {
  readonly clock: Clock;
  readonly files: OutboxFiles;
  readonly logger: Log;
  /** Ends the process without warning. */
  readonly kill: () => void;
  readonly setTimeout?: (callback: () => void, delayMs: number) => { unref?(): unknown };
}

export function createChaosHooks({
  clock,
  files,
  logger,
  kill,
  setTimeout: later = setTimeout,
}: ChaosHooksDeps): ChaosHooks {
  let offsetMs = 0;
  let full = false;
  /** The newest order of each kind: an older one's end does not undo it. */
  let clockOrder = 0;
  let diskOrder = 0;

  function refuseWhenFull(): void {
    if (full) throw Object.assign(new Error('ENOSPC: no space left on device (on purpose)'), { code: 'ENOSPC' });
  }

  return {
    clock: { now: () => clock.now() + offsetMs, monotonic: clock.monotonic },
    files: {
      async allocate(path, bytes) {
        refuseWhenFull();
        await files.allocate(path, bytes);
      },
      allocateNow(path, bytes) {
        refuseWhenFull();
        files.allocateNow(path, bytes);
      },
      write(fd, bytes, from, to, position) {
        refuseWhenFull();
        return files.write(fd, bytes, from, to, position);
      },
      sync: files.sync,
    },
    obey(order) {
      logger.warn({ order }, 'a chaos order');
      switch (order.action) {
        case 'kill':
          kill();
          return;
        case 'clock': {
          offsetMs = order.offset_ms;
          clockOrder += 1;
          const mine = clockOrder;
          later(() => {
            if (mine === clockOrder) offsetMs = 0;
          }, order.seconds * 1000).unref?.();
          return;
        }
        case 'disk_full': {
          full = true;
          diskOrder += 1;
          const mine = diskOrder;
          later(() => {
            if (mine === diskOrder) full = false;
          }, order.seconds * 1000).unref?.();
          return;
        }
        case 'mend':
          if (order.what !== 'disk_full') offsetMs = 0;
          if (order.what !== 'clock') full = false;
      }
    },
  };
}
