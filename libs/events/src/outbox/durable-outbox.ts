import type { CallSettled, CallStarted, Clock, UsageOutbox } from '@sluice/contracts';
import type { SpineLogger } from '../spine-logger.ts';
import type { OutboxFiles } from './outbox-files.ts';
import type { OutboxReader } from './segment-reader.ts';

export interface OutboxOptions {
  /** Its own folder, on a disk that outlives the process; made if absent. */
  readonly dir: string;
  readonly gatewayId: string;
  readonly clock: Clock;
  /** Above this, or this age, `accepting()` is false. Appends of calls already taken still go through. */
  readonly maxBytes: number;
  readonly maxAgeMs: number;
  /**
   * What one tenant may have of `maxBytes` in all its workspaces, above 0 and at most 1; all when absent. At least
   * two segments.
   */
  readonly tenantShare?: number;
  /**
   * The tenant for whom alone this gateway runs, who may have all of `maxBytes`; asked again each time that it
   * would be refused.
   */
  readonly dedicatedTo?: () => string | undefined;
  /** Files are allocated in this size; 8 MiB, or a sixteenth of `maxBytes` where that is less. */
  readonly segmentBytes?: number;
  readonly logger?: SpineLogger;
  /**
   * How often written records are forced to the disk, milliseconds; 100 when absent. 0: before each append
   * resolves.
   */
  readonly fsyncIntervalMs?: number;
  /**
   * At a bound or on a failing disk: refuse new calls (when absent), or let them go on without a record and count
   * them.
   */
  readonly atBound?: 'refuse' | 'serve';
  /** Replaced by tests of a full disk. */
  readonly files?: OutboxFiles;
}

/** The outbox with what its publisher needs. */
export interface DurableOutbox extends UsageOutbox {
  /**
   * Reads unacknowledged settled records from the oldest on, up to what is surely on the disk: the ledger is never
   * ahead of it.
   */
  reader(): OutboxReader;
  /** The oldest settled record that the ledger does not have: where a gap is, if there is one. */
  firstPending(): { readonly epoch: number; readonly sequence: number } | undefined;
  markPublished(epoch: number, sequence: number): void;
  /** Calls back whenever the reader can see more; returns the unsubscriber. */
  onSettled(listener: () => void): () => void;
}

export interface OpenedOutbox {
  readonly outbox: DurableOutbox;
  /** An outbox was here before. */
  readonly reopened: boolean;
  /** Started in an earlier epoch and never settled: to be settled as `interrupted` now. */
  readonly unmatched: readonly CallStarted[];
  /** Settled records still on disk, in order. */
  replay(): Iterable<CallSettled>;
  /** First settled sequence on disk of each epoch that has one. Everything before it is in the ledger. */
  readonly firstOnDisk: ReadonlyMap<number, number>;
}
