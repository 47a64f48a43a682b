import { exportQueue } from '@sluice/contracts';
import {
  holdsMessage,
  listExportQueues,
  listExportSubscriptions,
  provisionQueue,
  readQueueStates,
  removeQueue,
  unsubscribeQueue,
  type SpineClients,
} from '@sluice/events';

export interface ExportDepth {
  readonly waiting: number;
  readonly in_flight: number;
  readonly dlq_depth: number;
}

/**
 * The spine as far as audit exports need it; each is named by its tenant. Everything throws when the spine does not
 * answer.
 */
export interface ExportSpine {
  /** Tenants whose export queue exists. */
  existing(): Promise<readonly string[]>;
  /** Tenants whose export queue receives records. */
  subscribed(): Promise<readonly string[]>;
  provision(tenant: string): Promise<void>;
  /** Ends the arrival of records. */
  unsubscribe(tenant: string): Promise<void>;
  /** Approximate counts. */
  depth(tenant: string): Promise<ExportDepth>;
  /** Looks into both queues for a message, which no count can promise not to be there. */
  holdsMessage(tenant: string): Promise<boolean>;
  /** Deletes both queues and all that is in them. */
  remove(tenant: string): Promise<void>;
}

/** Exports on SNS and SQS. */
export function createSnsExportSpine(spine: SpineClients): ExportSpine {
  return {
    existing: () => listExportQueues(spine),
    subscribed: () => listExportSubscriptions(spine),
    provision: (tenant) => provisionQueue(exportQueue(tenant), spine),
    unsubscribe: (tenant) => unsubscribeQueue(exportQueue(tenant), spine),
    depth: async (tenant) => {
      const [state] = await readQueueStates({ topics: [], queues: [exportQueue(tenant)] }, spine);
      return state ?? { waiting: 0, in_flight: 0, dlq_depth: 0 };
    },
    holdsMessage: (tenant) => holdsMessage(exportQueue(tenant), spine),
    remove: (tenant) => removeQueue(exportQueue(tenant), spine),
  };
}
