import type { QueueDeclaration, TopicName } from './topology.ts';

/** Where the spine is deployed: ARNs are made of it. */
export interface SpinePlace {
  readonly region: string;
  /** AWS account id, 12 digits. */
  readonly account: string;
}

export const topicArn = (topic: TopicName, place: SpinePlace): string => `arn:aws:sns:${place.region}:${place.account}:${topic}`;
export const queueArn = (name: string, place: SpinePlace): string => `arn:aws:sqs:${place.region}:${place.account}:${name}`;

/** SQS attributes of a declared queue, as the API takes them. The provisioner, the CDKTF stack and `verify` use these same values. */
export function queueAttributes(queue: QueueDeclaration, place: SpinePlace): Readonly<Record<string, string>> {
  return {
    VisibilityTimeout: String(queue.visibilityTimeoutS),
    MessageRetentionPeriod: String(queue.retentionS),
    ReceiveMessageWaitTimeSeconds: String(queue.receiveWaitS),
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: queueArn(queue.dlq, place), maxReceiveCount: queue.maxReceiveCount }),
    Policy: JSON.stringify({
      Version: '2012-10-17',
      Statement: [
        {
          Sid: 'AllowTopic',
          Effect: 'Allow',
          Principal: { Service: 'sns.amazonaws.com' },
          Action: 'sqs:SendMessage',
          Resource: queueArn(queue.name, place),
          Condition: { ArnEquals: { 'aws:SourceArn': topicArn(queue.topic, place) } },
        },
      ],
    }),
  };
}

/** SQS attributes of a queue's dead-letter queue: only that queue may dead-letter into it. */
export function dlqAttributes(queue: QueueDeclaration, place: SpinePlace): Readonly<Record<string, string>> {
  return {
    MessageRetentionPeriod: String(queue.dlqRetentionS),
    RedriveAllowPolicy: JSON.stringify({ redrivePermission: 'byQueue', sourceQueueArns: [queueArn(queue.name, place)] }),
  };
}

/** SNS attributes of the queue's subscription. Without a filter the attribute is absent. */
export function subscriptionAttributes(queue: QueueDeclaration): Readonly<Record<string, string>> {
  return {
    RawMessageDelivery: String(queue.rawDelivery),
    ...(queue.filter === undefined ? {} : { FilterPolicy: JSON.stringify(queue.filter) }),
  };
}
