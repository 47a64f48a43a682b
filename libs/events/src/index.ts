export type { SpineLogger } from './spine-logger.ts';
export { openOutbox, type DurableOutbox, type OpenedOutbox, type OutboxOptions } from './outbox/open-outbox.ts';
export { createOutboxPublisher, usageMessage, type OutboxPublisher, type OutboxPublisherOptions } from './outbox/outbox-publisher.ts';
export { createSpineClients, type SpineClientOptions, type SpineClients } from './spine/spine-clients.ts';
export { createSnsPublisher, type SnsPublisherDeps } from './spine/sns-publisher.ts';
export { createSqsConsumer, type SqsConsumerOptions } from './spine/sqs-consumer.ts';
export { provisionQueue, provisionTopology } from './spine/provisioner.ts';
export { compareTopology, describeDeployed, type DeployedTopology } from './spine/compare-topology.ts';
export { readQueueStates, redrive, type QueueState, type RedriveResult } from './spine/queue-states.ts';
