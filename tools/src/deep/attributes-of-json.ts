/** What the AWS provider calls an attribute of the SNS and SQS APIs. */
const API_NAME: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  aws_sns_topic: { kms_master_key_id: 'KmsMasterKeyId', policy: 'Policy' },
  aws_sqs_queue: {
    visibility_timeout_seconds: 'VisibilityTimeout',
    message_retention_seconds: 'MessageRetentionPeriod',
    receive_wait_time_seconds: 'ReceiveMessageWaitTimeSeconds',
    redrive_policy: 'RedrivePolicy',
    redrive_allow_policy: 'RedriveAllowPolicy',
    sqs_managed_sse_enabled: 'SqsManagedSseEnabled',
    policy: 'Policy',
  },
  aws_sns_topic_subscription: {
    raw_message_delivery: 'RawMessageDelivery',
    filter_policy: 'FilterPolicy',
    filter_policy_scope: 'FilterPolicyScope',
  },
};

/** What the SQS API calls an attribute of `aws_sqs_queue`. @throws RangeError when it is not known. */
export function apiNameOfQueueAttribute(name: string): string {
  const known = API_NAME['aws_sqs_queue']?.[name];
  if (known === undefined) throw new RangeError(`aws_sqs_queue has no attribute ${name} that is declared`);
  return known;
}

/** What names a resource and says how Terraform orders it, rather than an attribute of it. */
const OTHER_KEYS = new Set(['//', 'name', 'topic_arn', 'protocol', 'endpoint', 'depends_on']);

export interface SynthesisedResource {
  readonly type: string;
  /** Name of the topic or queue; the endpoint's ARN of a subscription. */
  readonly name: string;
  /** Of a subscription. */
  readonly topicArn: string | undefined;
  /** Under the names and in the form of the SNS and SQS APIs. */
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * The resources of a synthesised stack with their attributes as the SNS and SQS APIs name them, so that they can be
 * compared with what the SDK provisioner has applied.
 *
 * @throws RangeError for a resource or an attribute without a counterpart: it would be left out of the comparison.
 */
export function attributesOfJson(json: string): SynthesisedResource[] {
  const { resource } = JSON.parse(json) as { resource: Record<string, Record<string, Record<string, unknown>>> };
  return Object.entries(resource).flatMap(([type, rows]) => {
    const names = API_NAME[type];
    if (names === undefined) throw new RangeError(`the API counterpart of ${type} is not known`);
    return Object.values(rows).map((row) => {
      const attributes: Record<string, string> = {};
      for (const [key, value] of Object.entries(row)) {
        if (OTHER_KEYS.has(key)) continue;
        const name = names[key];
        if (name === undefined) throw new RangeError(`the API counterpart of ${type}.${key} is not known`);
        attributes[name] = String(value);
      }
      return {
        type,
        name: String(row['name'] ?? row['endpoint']),
        topicArn: row['topic_arn'] as string | undefined,
        attributes,
      };
    });
  });
}
