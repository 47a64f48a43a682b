import { TerraformResource } from 'cdktf';
import type { Construct } from 'constructs';

type Attribute = string | number | boolean;

/**
 * One resource of the AWS provider with plain attributes: a thin stand-in for the generated bindings, which weigh
 * hundreds of megabytes. What is undefined is left out.
 */
export class AwsResource extends TerraformResource {
  readonly #attributes: Readonly<Record<string, Attribute | undefined>>;

  constructor(scope: Construct, id: string, type: string, attributes: Readonly<Record<string, Attribute | undefined>>) {
    super(scope, id, { terraformResourceType: type, terraformGeneratorMetadata: { providerName: 'aws' } });
    this.#attributes = attributes;
  }

  /** Terraform makes `others` first. ARNs are written out here, so that it cannot see these edges by itself. */
  after(...others: readonly AwsResource[]): this {
    this.dependsOn = [
      ...(this.dependsOn ?? []),
      ...others.map((other) => `${other.terraformResourceType}.${other.friendlyUniqueId}`),
    ];
    return this;
  }

  protected override synthesizeAttributes(): Record<string, unknown> {
    return Object.fromEntries(Object.entries(this.#attributes).filter(([, value]) => value !== undefined));
  }
}

/** Attributes of `aws_sqs_queue` that the spine sets. Times in seconds; policies as JSON text. */
export interface SqsQueueAttributes {
  readonly name: string;
  readonly visibility_timeout_seconds?: number;
  readonly message_retention_seconds: number;
  readonly receive_wait_time_seconds?: number;
  readonly redrive_policy?: string;
  readonly redrive_allow_policy?: string;
  readonly sqs_managed_sse_enabled: boolean;
  /** Inline: a policy resource of its own is slow to destroy. */
  readonly policy?: string;
}

export interface SnsTopicAttributes {
  readonly name: string;
  readonly kms_master_key_id: string;
  readonly policy: string;
}

export const snsTopic = (scope: Construct, id: string, attributes: SnsTopicAttributes): AwsResource =>
  new AwsResource(scope, id, 'aws_sns_topic', { ...attributes });

export const sqsQueue = (scope: Construct, id: string, attributes: SqsQueueAttributes): AwsResource =>
  new AwsResource(scope, id, 'aws_sqs_queue', { ...attributes });

export interface SnsSubscriptionAttributes {
  readonly topic_arn: string;
  readonly protocol: 'sqs';
  readonly endpoint: string;
  readonly raw_message_delivery: boolean;
  readonly filter_policy?: string;
  readonly filter_policy_scope?: string;
}

export const snsSubscription = (scope: Construct, id: string, attributes: SnsSubscriptionAttributes): AwsResource =>
  new AwsResource(scope, id, 'aws_sns_topic_subscription', { ...attributes });
