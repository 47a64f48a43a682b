export type { SpineLogger } from './spine-logger.ts';
export type { DurableOutbox, OpenedOutbox, OutboxOptions } from './outbox/durable-outbox.ts';
export { openOutbox } from './outbox/open-outbox.ts';
export { nodeFiles, type OutboxFiles } from './outbox/outbox-files.ts';
export { createEventQueue, type EventQueue, type EventQueueOptions } from './outbox/event-queue.ts';
export {
  createOutboxPublisher,
  usageMessage,
  type OutboxPublisher,
  type OutboxPublisherOptions,
} from './outbox/outbox-publisher.ts';
export { createSpineClients, type SpineClientOptions, type SpineClients } from './spine/spine-clients.ts';
export { createSnsPublisher, type SnsPublisherDeps } from './spine/sns-publisher.ts';
export { createSqsConsumer, type ConsumedBatch, type SqsConsumerOptions } from './spine/sqs-consumer.ts';
export { provisionQueue, provisionTopology, removeQueue, unsubscribeQueue } from './spine/provisioner.ts';
export { canonicalJson, compareQueue, compareTopology } from './spine/compare-topology.ts';
export { describeDeployed, type Attributes, type DeployedTopology } from './spine/describe-deployed.ts';
export { holdsMessage, listExportQueues, listExportSubscriptions } from './spine/export-queues.ts';
export { checkConsumers, type ConsumerCheck } from './spine/check-consumers.ts';
export { consumerFaults, consumptionFaults, type ConsumerClaim } from './spine/consumer-faults.ts';
export { readQueueStates, type QueueState } from './spine/queue-states.ts';
export { redrive, type RedriveOptions, type RedriveResult } from './spine/redrive.ts';
export { discardDeadLetters, readDeadLetters, type DeadLetter } from './spine/dead-letters.ts';
export { sendToQueue, type DirectMessage } from './spine/send-to-queue.ts';
