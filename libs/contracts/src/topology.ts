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

export interface TopicDeclaration {
  readonly name: TopicName;
  readonly event: string;
  /**
   * KMS key that encrypts messages at rest. AWS's own key for SNS: every publisher of the account may use it,
   * through SNS only.
   */
  readonly kmsKey: 'alias/aws/sns';
}

/** The processes that consume queues. */
export type ConsumerProcess = 'control-plane' | 'router';

export interface QueueDeclaration {
  readonly name: string;
  readonly dlq: string;
  readonly topic: TopicName;
  /** Undefined delivers every message of the topic. */
  readonly filter: SubscriptionFilter | undefined;
  readonly rawDelivery: true;
  /**
   * At rest, the dead-letter queue too, with keys that SQS holds: SNS may not use AWS's KMS key for SQS, so that
   * one would stop delivery.
   */
  readonly encryption: 'sqs-managed';
  readonly maxReceiveCount: number;
  readonly visibilityTimeoutS: number;
  readonly retentionS: number;
  readonly dlqRetentionS: number;
  readonly receiveWaitS: number;
  /** The one process that consumes it; undefined for a queue that a customer reads. */
  readonly consumer: ConsumerProcess | undefined;
}

export interface Topology {
  readonly topics: readonly TopicDeclaration[];
  readonly queues: readonly QueueDeclaration[];
}

const DAY_S = 86_400;
export const MAX_RECEIVE_COUNT = 3;
/**
 * A failed message is made visible again after 1 s, then 3 s; with three receives a poisoned one is dead-lettered
 * within 15 s.
 */
export const RETRY_VISIBILITY_S = [1, 3] as const;
/**
 * Receives that a consumer is built for: the first and one after each wait. A queue with another `maxReceiveCount`
 * gives up too early or goes round too long.
 */
export const RETRY_BUDGET: number = RETRY_VISIBILITY_S.length + 1;
/** The longest that SQS keeps a message. */
export const MAX_RETENTION_S = 14 * DAY_S;

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
    encryption: 'sqs-managed',
    maxReceiveCount: MAX_RECEIVE_COUNT,
    visibilityTimeoutS: 30,
    retentionS: 4 * DAY_S,
    dlqRetentionS: MAX_RETENTION_S,
    receiveWaitS: 10,
    consumer,
  };
}

/** Everything but the callers' own mistakes. */
const ANOMALIES_FOR_OPERATORS = ANOMALY_TYPES.filter((type) => type !== 'refusals.client_error');

export const EXPORT_QUEUE_SUFFIX = '-audit-export';

/**
 * Tenant ids that can name an export queue: SQS allows 80 letters, digits, hyphens and underscores, and
 * `-audit-export-dlq` takes 17 of them.
 */
export const EXPORTABLE_TENANT_ID = /^[A-Za-z0-9_-]{1,63}$/;

/**
 * Audit export queue of one tenant, which the tenant reads itself. It keeps a record for 14 days, the longest that
 * SQS can, and so does its dead-letter queue, counted from when the record was first sent; the audit log keeps it
 * longer.
 */
export function exportQueue(tenantId: string): QueueDeclaration {
  return {
    ...queue(`${tenantId}${EXPORT_QUEUE_SUFFIX}`, 'audit-events', undefined, { tenant_id: [tenantId] }),
    retentionS: MAX_RETENTION_S,
  };
}

/** The tenant of an export queue by its name; undefined for every other name. */
export function tenantOfExportQueue(name: string): string | undefined {
  const tenant = name.endsWith(EXPORT_QUEUE_SUFFIX) ? name.slice(0, -EXPORT_QUEUE_SUFFIX.length) : '';
  return tenant === '' ? undefined : tenant;
}

const topic = (name: TopicName, event: string): TopicDeclaration => ({ name, event, kmsKey: 'alias/aws/sns' });

/** The topology with an export queue for each of these tenants. */
export function declareTopology(exportTenants: readonly string[]): Topology {
  return {
    topics: [
      topic('usage-events', 'usage.events'),
      topic('audit-events', 'audit.events'),
      topic('anomaly-events', 'anomaly.events'),
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

/** A declared queue. @throws RangeError for a name that is not declared. */
export function declaredQueue(topology: Topology, name: string): QueueDeclaration {
  const found = topology.queues.find((candidate) => candidate.name === name);
  if (found === undefined)
    throw new RangeError(
      `no queue ${name} is declared; there are ${topology.queues.map((one) => one.name).join(', ')}`,
    );
  return found;
}

/** Region and account of emulators that are not told others. */
export const LOCAL_REGION = 'eu-central-1';
export const LOCAL_ACCOUNT = '000000000000';
