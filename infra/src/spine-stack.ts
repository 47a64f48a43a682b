import {
  dlqAttributes,
  queueArn,
  queueAttributes,
  subscriptionAttributes,
  topicArn,
  topicAttributes,
  type QueueDeclaration,
  type SpinePlace,
  type TopicDeclaration,
  type Topology,
} from '@sluice/contracts';
import { LocalBackend, TerraformProvider, TerraformStack } from 'cdktf';
import type { Construct } from 'constructs';
import { snsSubscription, snsTopic, sqsQueue } from './aws-resource.ts';

export interface SpineStackOptions {
  readonly topology: Topology;
  readonly place: SpinePlace;
  /** Of an emulator; absent for AWS. Emulators are not asked who we are, and take any credentials. */
  readonly endpoint?: string;
}

class AwsProvider extends TerraformProvider {
  readonly #options: SpineStackOptions;

  constructor(scope: Construct, options: SpineStackOptions) {
    super(scope, 'aws', {
      terraformResourceType: 'aws',
      terraformProviderSource: 'hashicorp/aws',
      terraformGeneratorMetadata: { providerName: 'aws', providerVersionConstraint: '~> 5.100' },
    });
    this.#options = options;
  }

  protected override synthesizeAttributes(): Record<string, unknown> {
    const { endpoint, place } = this.#options;
    if (endpoint === undefined) return { region: place.region };
    return {
      region: place.region,
      access_key: 'local',
      secret_key: 'local',
      skip_credentials_validation: true,
      skip_metadata_api_check: true,
      skip_requesting_account_id: true,
      endpoints: [{ sns: endpoint, sqs: endpoint }],
    };
  }
}

/**
 * The declared event spine as Terraform: topics, queues with dead-letter queues and inline policies, filtered
 * subscriptions.
 */
export class SpineStack extends TerraformStack {
  constructor(scope: Construct, id: string, options: SpineStackOptions) {
    super(scope, id);
    new LocalBackend(this, { path: 'spine.tfstate' });
    new AwsProvider(this, options);
    const topics = new Map(options.topology.topics.map((topic) => [topic.name, this.#topic(topic, options.place)]));
    for (const declared of options.topology.queues) {
      const subscription = this.#queue(declared, options.place);
      const topic = topics.get(declared.topic);
      if (topic !== undefined) subscription.after(topic);
    }
  }

  #topic(declared: TopicDeclaration, place: SpinePlace) {
    const attributes = topicAttributes(declared, place);
    return snsTopic(this, `topic_${declared.name}`, {
      name: declared.name,
      kms_master_key_id: attributes['KmsMasterKeyId'] as string,
      policy: attributes['Policy'] as string,
    });
  }

  #queue(declared: QueueDeclaration, place: SpinePlace) {
    const own = queueAttributes(declared, place);
    const dead = dlqAttributes(declared, place);
    const { FilterPolicy: filter, FilterPolicyScope: scope } = subscriptionAttributes(declared);
    const dlq = sqsQueue(this, `queue_${declared.dlq}`, {
      name: declared.dlq,
      message_retention_seconds: Number(dead['MessageRetentionPeriod']),
      redrive_allow_policy: dead['RedriveAllowPolicy'] as string,
      sqs_managed_sse_enabled: dead['SqsManagedSseEnabled'] === 'true',
      policy: dead['Policy'] as string,
    });
    const queue = sqsQueue(this, `queue_${declared.name}`, {
      name: declared.name,
      visibility_timeout_seconds: Number(own['VisibilityTimeout']),
      message_retention_seconds: Number(own['MessageRetentionPeriod']),
      receive_wait_time_seconds: Number(own['ReceiveMessageWaitTimeSeconds']),
      redrive_policy: own['RedrivePolicy'] as string,
      sqs_managed_sse_enabled: own['SqsManagedSseEnabled'] === 'true',
      policy: own['Policy'] as string,
    });
    queue.after(dlq);
    const subscription = snsSubscription(this, `subscription_${declared.name}`, {
      topic_arn: topicArn(declared.topic, place),
      protocol: 'sqs',
      endpoint: queueArn(declared.name, place),
      raw_message_delivery: declared.rawDelivery,
      ...(filter === undefined || scope === undefined ? {} : { filter_policy: filter, filter_policy_scope: scope }),
    });
    return subscription.after(queue);
  }
}
