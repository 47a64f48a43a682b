import type { QueueDeclaration, TopicDeclaration, TopicName } from './topology.ts';

/** Where the spine is deployed: ARNs are made of it. */
export interface SpinePlace {
  readonly region: string;
  /** AWS account id, 12 digits. */
  readonly account: string;
}

type Attributes = Readonly<Record<string, string>>;

/** The part of AWS that a region belongs to. */
const partitionOf = (region: string): string =>
  region.startsWith('cn-') ? 'aws-cn' : region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws';

const arn = (service: string, name: string, { region, account }: SpinePlace): string =>
  `arn:${partitionOf(region)}:${service}:${region}:${account}:${name}`;

export const topicArn = (topic: TopicName, place: SpinePlace): string => arn('sns', topic, place);
export const queueArn = (name: string, place: SpinePlace): string => arn('sqs', name, place);

/** Region and account of an ARN; undefined when it is none. */
export function placeOfArn(text: string): SpinePlace | undefined {
  const [, , , region, account] = text.split(':');
  return region === undefined || account === undefined || !/^\d{12}$/.test(account) ? undefined : { region, account };
}

const policy = (...statements: readonly object[]): string =>
  JSON.stringify({ Version: '2012-10-17', Statement: statements });

/** Nobody reaches the resource over plain HTTP. */
const denyWithoutTls = (action: string, resource: string) => ({
  Sid: 'DenyWithoutTls',
  Effect: 'Deny',
  Principal: '*',
  Action: action,
  Resource: resource,
  Condition: { Bool: { 'aws:SecureTransport': 'false' } },
});

/**
 * SNS attributes of a declared topic: encrypted; principals of the account publish, as far as their own policies
 * let them.
 */
export function topicAttributes(topic: TopicDeclaration, place: SpinePlace): Attributes {
  const resource = topicArn(topic.name, place);
  return {
    KmsMasterKeyId: topic.kmsKey,
    Policy: policy(
      {
        Sid: 'AllowAccount',
        Effect: 'Allow',
        Principal: { AWS: `arn:${partitionOf(place.region)}:iam::${place.account}:root` },
        Action: 'sns:Publish',
        Resource: resource,
      },
      denyWithoutTls('sns:Publish', resource),
    ),
  };
}

/**
 * SQS attributes of a declared queue, as the API takes them. The provisioner, the CDKTF stack and `verify` use
 * these same values. Only SNS may send to it, and only for the declared topic.
 */
export function queueAttributes(queue: QueueDeclaration, place: SpinePlace): Attributes {
  const resource = queueArn(queue.name, place);
  return {
    VisibilityTimeout: String(queue.visibilityTimeoutS),
    MessageRetentionPeriod: String(queue.retentionS),
    ReceiveMessageWaitTimeSeconds: String(queue.receiveWaitS),
    SqsManagedSseEnabled: 'true',
    RedrivePolicy: JSON.stringify({
      deadLetterTargetArn: queueArn(queue.dlq, place),
      maxReceiveCount: queue.maxReceiveCount,
    }),
    Policy: policy(
      {
        Sid: 'AllowTopic',
        Effect: 'Allow',
        Principal: { Service: 'sns.amazonaws.com' },
        Action: 'sqs:SendMessage',
        Resource: resource,
        Condition: { ArnEquals: { 'aws:SourceArn': topicArn(queue.topic, place) } },
      },
      denyWithoutTls('sqs:*', resource),
    ),
  };
}

/** SQS attributes of a queue's dead-letter queue: only that queue may dead-letter into it. */
export function dlqAttributes(queue: QueueDeclaration, place: SpinePlace): Attributes {
  return {
    MessageRetentionPeriod: String(queue.dlqRetentionS),
    SqsManagedSseEnabled: 'true',
    RedriveAllowPolicy: JSON.stringify({
      redrivePermission: 'byQueue',
      sourceQueueArns: [queueArn(queue.name, place)],
    }),
    Policy: policy(denyWithoutTls('sqs:*', queueArn(queue.dlq, place))),
  };
}

/** SNS attributes of the queue's subscription. Without a filter its two attributes are absent. */
export function subscriptionAttributes(queue: QueueDeclaration): Attributes {
  return {
    RawMessageDelivery: String(queue.rawDelivery),
    ...(queue.filter === undefined
      ? {}
      : { FilterPolicyScope: 'MessageAttributes', FilterPolicy: JSON.stringify(queue.filter) }),
  };
}
