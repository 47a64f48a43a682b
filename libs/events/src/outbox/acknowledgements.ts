import { join } from 'node:path';
import type { Clock } from '@sluice/contracts';
import type { SpineLogger } from '../spine-logger.ts';
import { oldestPendingAt, type Segment } from './segment.ts';
import { readJsonFile, writeFileAtomic } from './small-file.ts';

/** Up to where the ledger has each epoch, and what is still owed to it. */
export interface Acknowledgements {
  /** Last settled sequence of each epoch that has segments. */
  readonly lastOf: Map<number, number>;
  of(epoch: number): number;
  /** Notes what the ledger has; true when that is news. What was never written is not believed. */
  acknowledge(epoch: number, sequence: number): boolean;
  /** Settled records that the ledger does not have. */
  readonly pending: number;
  /** The oldest of them. */
  first(): { epoch: number; sequence: number } | undefined;
  /** Age of the oldest of them, milliseconds, on a clock that nobody sets; 0 when there is none. */
  oldestAgeMs(): number;
  /** Writes them down when they changed; a boot asks the ledger for what is lost here. */
  save(): void;
}

export interface AcknowledgementsDeps {
  readonly dir: string;
  readonly epoch: number;
  /** The living list, oldest first. */
  readonly segments: readonly Segment[];
  readonly lastOf: Map<number, number>;
  readonly clock: Clock;
  readonly logger?: SpineLogger;
}

export function createAcknowledgements({
  dir,
  epoch,
  segments,
  lastOf,
  clock,
  logger,
}: AcknowledgementsDeps): Acknowledgements {
  const path = join(dir, 'acknowledged.json');
  const saved = (readJsonFile(path) ?? {}) as Record<string, number>;
  const acked = new Map(Object.entries(saved).map(([of, sequence]) => [Number(of), sequence]));
  let dirty = false;
  const ackedOf = (of: number): number => acked.get(of) ?? 0;

  return {
    lastOf,
    of: ackedOf,
    acknowledge(of, sequence) {
      const last = lastOf.get(of) ?? 0;
      if (sequence > last) {
        if (last > 0 || of === epoch)
          logger?.error(
            { epoch: of, sequence, last },
            'the ledger acknowledged more than this outbox wrote; another one uses its gateway id. Not believed',
          );
        return false;
      }
      if (sequence <= ackedOf(of)) return false;
      acked.set(of, sequence);
      dirty = true;
      return true;
    },
    get pending() {
      let pending = 0;
      for (const [of, last] of lastOf) pending += Math.max(0, last - ackedOf(of));
      return pending;
    },
    first() {
      for (const { epoch: of, lastSequence } of segments)
        if (lastSequence > ackedOf(of)) return { epoch: of, sequence: ackedOf(of) + 1 };
      return undefined;
    },
    oldestAgeMs() {
      for (const segment of segments) {
        const at = oldestPendingAt(segment, ackedOf(segment.epoch));
        if (at !== undefined) return Math.max(0, clock.monotonic() - at);
      }
      return 0;
    },
    save() {
      if (!dirty) return;
      dirty = false;
      const living = new Set(segments.map((segment) => segment.epoch));
      try {
        writeFileAtomic(path, JSON.stringify(Object.fromEntries([...acked].filter(([of]) => living.has(of)))));
      } catch (error) {
        dirty = true;
        logger?.warn({ err: error }, 'acknowledgements could not be saved; they are asked for again');
      }
    },
  };
}
