import { ListSubscriptionsByTopicCommand, type SNSClient } from '@aws-sdk/client-sns';

export interface ListedSubscription {
  readonly arn: string;
  /** ARN of the queue. */
  readonly endpoint: string;
}

/**
 * All subscriptions of queues to a topic, page by page.
 * @throws when the topic does not exist or SNS cannot be reached.
 */
export async function listSubscriptions(sns: SNSClient, topicArn: string): Promise<ListedSubscription[]> {
  const found: ListedSubscription[] = [];
  let NextToken: string | undefined;
  do {
    const page = await sns.send(
      new ListSubscriptionsByTopicCommand({ TopicArn: topicArn, ...(NextToken === undefined ? {} : { NextToken }) }),
    );
    for (const { SubscriptionArn, Endpoint, Protocol } of page.Subscriptions ?? []) {
      if (Protocol === 'sqs' && SubscriptionArn !== undefined && Endpoint !== undefined)
        found.push({ arn: SubscriptionArn, endpoint: Endpoint });
    }
    NextToken = page.NextToken;
  } while (NextToken !== undefined && NextToken !== '');
  return found;
}
