import type { Clock, LimitStoreStatus } from '@sluice/contracts';
import type { Timers } from './slot-pool.ts';

/** How a gateway behaves that shares its limits with others. */
export interface TierOptions {
  readonly clock: Clock;
  /**
   * Largest part of a bucket or of a bulkhead that one gateway is lent at a time; 0.1 unless told. With 0 every
   * step is a round trip and every limit exact.
   */
  readonly leaseShare?: number;
  /** What a gateway holds is given up for dead after so long without a sign, milliseconds; 10 s unless told. */
  readonly livenessMs?: number;
  /** Longest time until settled use is told, milliseconds; 250 unless told. */
  readonly flushMs?: number;
  /** What was lent goes back after so long without a call, milliseconds; 1 s unless told. */
  readonly idleMs?: number;
  /** Gateways come back to a restarted authority spread over so long, milliseconds; 1 s unless told. */
  readonly reconnectJitterMs?: number;
  readonly timers?: Timers;
  readonly random?: () => number;
  /**
   * What the authority holds of this tenant is broken, first of its kind: this tenant goes on with its local share, the
   * others as before.
   */
  readonly onTenantFault?: (tenantId: string, error: Error) => void;
  /** The state changed; the error is why it became `degraded`. */
  readonly onStatus?: (status: LimitStoreStatus, error?: unknown) => void;
}
