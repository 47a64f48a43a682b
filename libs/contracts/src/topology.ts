import { z } from 'zod';
import { ANOMALY_TYPES } from './events.ts';

/**
 * The declared event spine: three topics, their queues, each with a dead-letter queue. The CDKTF stack, the embedded
 * provisioner, the consumers and `verify` all read this and nothing else.
 */
export const TopicName = z.enum(['usage-events', 'audit-events', 'anomaly-events']);
export type TopicName = z.infer<typeof TopicName>;

export interface SubscriptionFilter {
  /** SNS filter policy on message attributes. */
  readonly [attribute: string]: readonly string[];
}

export interface QueueDeclaration {
  readonly name: string;
  readonly dlq: string;
  readonly topic: TopicName;
  /** Undefined delivers every message of the topic. */
  readonly filter: SubscriptionFilter | undefined;
  readonly rawDelivery: true;
  readonly maxReceiveCount: number;
  readonly visibilityTimeoutS: number;
  readonly retentionS: number;
  readonly dlqRetentionS: number;
  readonly receiveWaitS: number;
  /** The one process that consumes it; undefined for a queue that a customer reads. */
  readonly consumer: 'control-plane' | 'router' | undefined;
}

export interface Topology {
  readonly topics: readonly { readonly name: TopicName; readonly event: string }[];
  readonly queues: readonly QueueDeclaration[];
}

const DAY_S = 86_400;
export const MAX_RECEIVE_COUNT = 3;
/** A failed message is made visible again after 1 s, then 3 s; with three receives a poisoned one is dead-lettered within 15 s. */
export const RETRY_VISIBILITY_S = [1, 3] as const;

function queue(
  name: string,
  topic: TopicName,
  consumer: QueueDeclaration['consumer'],
  filter?: SubscriptionFilter,
): QueueDeclaration {
  return {
    name,
    dlq: `${name}-dlq`,
    topic,
    filter,
    rawDelivery: true,
    maxReceiveCount: MAX_RECEIVE_COUNT,
    visibilityTimeoutS: 30,
    retentionS: 4 * DAY_S,
    dlqRetentionS: 14 * DAY_S,
    receiveWaitS: 10,
    consumer,
  };
}

/** Audit export queue of one tenant. */
export function exportQueue(tenantId: string): QueueDeclaration {
  return queue(`${tenantId}-audit-export`, 'audit-events', undefined, { tenant_id: [tenantId] });
}

/** Everything but the callers' own mistakes. */
const ANOMALIES_FOR_OPERATORS = ANOMALY_TYPES.filter((type) => type !== 'refusals.client_error');

/** The topology with an export queue for each of these tenants. */
export function declareTopology(exportTenants: readonly string[]): Topology {
  return {
    topics: [
      { name: 'usage-events', event: 'usage.events' },
      { name: 'audit-events', event: 'audit.events' },
      { name: 'anomaly-events', event: 'anomaly.events' },
    ],
    queues: [
      queue('metering', 'usage-events', 'control-plane'),
      queue('router-usage', 'usage-events', 'router'),
      queue('audit', 'audit-events', 'control-plane'),
      ...exportTenants.map(exportQueue),
      queue('anomaly', 'anomaly-events', 'control-plane', { type: ANOMALIES_FOR_OPERATORS }),
      queue('router-anomaly', 'anomaly-events', 'router', { type: ['refusals.throttled', 'refusals.shed'] }),
    ],
  };
}

/** The demo's topology: three topics and six queues. */
export const TOPOLOGY: Topology = declareTopology(['acme']);

/** Region and account that emulators use; ARNs are made of them. */
export const LOCAL_REGION = 'eu-central-1';
export const LOCAL_ACCOUNT = '000000000000';
