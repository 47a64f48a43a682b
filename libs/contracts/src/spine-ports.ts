import type { CallSettled, CallStarted, EventOrigin } from './events.ts';
import type { TopicName } from './topology.ts';

/** A message on its way to a topic. Attributes are what subscriptions filter by. */
export interface OutgoingEvent {
  /** Unique within a batch. */
  readonly id: string;
  readonly topic: TopicName;
  /** JSON text. */
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface EventPublisher {
  /** Publishes in batches of at most 10; returns the ids that were refused, which the caller sends again. */
  publish(events: readonly OutgoingEvent[]): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface IncomingEvent {
  readonly messageId: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** 1 at the first delivery. */
  readonly receiveCount: number;
}

/** What a handler says of each message; anything not named was handled. */
export interface BatchVerdict {
  /** Delivered again after the back-off, dead-lettered after `maxReceiveCount`. */
  readonly failed: ReadonlyMap<string, string>;
}

/** Handles a batch; must be idempotent. Throwing fails the whole batch. */
export type EventHandler = (batch: readonly IncomingEvent[]) => Promise<BatchVerdict>;

export interface EventConsumer {
  start(): void;
  /** Stops receiving, lets the running batch finish. */
  stop(): Promise<void>;
  /** Makes every delivery fail (the chaos hook `consumer broken`). */
  setBroken(broken: boolean): void;
  readonly state: {
    readonly broken: boolean;
    readonly handled: number;
    /** Deliveries that failed; one message may fail several times. */
    readonly failed: number;
    readonly deadLettered: number;
    readonly lastError: string | undefined;
  };
}

/** Message attribute of a dead letter: why its last delivery failed. */
export const DEAD_LETTER_REASON = 'sluice_dead_letter_reason';
/** A larger body is dead-lettered unread, UTF-8 bytes: SNS takes no larger message. */
export const MAX_EVENT_BYTES = 256 * 1024;
/** Objects and arrays inside one another in the body of an event; deeper ones are dead-lettered unread. */
export const MAX_EVENT_DEPTH = 32;

/**
 * The gateway's durable record. `append*` resolve when `write()` has returned, so what they recorded survives a kill of
 * the process; `fdatasync` follows within 100 ms.
 */
export interface UsageOutbox {
  readonly gatewayId: string;
  readonly epoch: number;
  appendStarted(event: CallStarted): Promise<void>;
  /**
   * Gives the event its origin and records it. Undefined for a call that is served without a record, by setting,
   * and counted.
   */
  appendSettled(event: Omit<CallSettled, keyof EventOrigin>): Promise<EventOrigin | undefined>;
  /** The ledger holds everything of this gateway and epoch up to `sequence`; whole segments below it are deleted. */
  acknowledge(epoch: number, sequence: number): void;
  /**
   * False at the bound (bytes or hours), on a failing disk, and for a tenant (its id, where one is given) that has
   * used up its share: a new call is refused before anything is taken.
   */
  accepting(tenantId?: string): boolean;
  /** Why: this tenant's workspaces have its share of the outbox full of calls that the ledger does not have yet. */
  shareFull(tenantId: string): boolean;
  readonly stats: OutboxStats;
  close(): Promise<void>;
}

export interface OutboxStats {
  readonly epoch: number;
  readonly lastSequence: number;
  readonly publishedSequence: number;
  readonly ackedSequence: number;
  /** Settled events not yet acknowledged by the ledger, over all epochs. */
  readonly pending: number;
  /** Age of the oldest of those, milliseconds; 0 when none. */
  readonly oldestAgeMs: number;
  readonly bytes: number;
  readonly segments: number;
  /** Calls served without a record since the start of the process; 0 unless that is set. */
  readonly unmeteredCalls: number;
}
