import { GetSubscriptionAttributesCommand, GetTopicAttributesCommand } from '@aws-sdk/client-sns';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { topicArn, type SpinePlace, type TopicName, type Topology } from '@sluice/contracts';
import { listSubscriptions } from './list-subscriptions.ts';
import { isNoSuchQueue, type SpineClients } from './spine-clients.ts';

export type Attributes = Readonly<Record<string, string>>;

/** What is really there of the names that a topology declares. */
export interface DeployedTopology {
  readonly place: SpinePlace;
  /** Attributes by topic name; a topic that does not exist is absent. */
  readonly topics: Readonly<Record<string, Attributes>>;
  /** Attributes by queue name, dead-letter queues too; a queue that does not exist is absent. */
  readonly queues: Readonly<Record<string, Attributes>>;
  /** By queue name, one per subscription of the declared topics. */
  readonly subscriptions: readonly {
    readonly topic: string;
    readonly queue: string;
    readonly attributes: Attributes;
  }[];
}

const lastPart = (arn: string): string => arn.slice(arn.lastIndexOf(':') + 1);

async function topicNow({ sns }: SpineClients, name: TopicName, place: SpinePlace): Promise<[string, Attributes][]> {
  try {
    const answer = await sns.send(new GetTopicAttributesCommand({ TopicArn: topicArn(name, place) }));
    return [[name, answer.Attributes ?? {}]];
  } catch (error) {
    if (error instanceof Error && error.name.startsWith('NotFound')) return [];
    throw error;
  }
}

async function queueNow(clients: SpineClients, name: string): Promise<[string, Attributes][]> {
  try {
    const QueueUrl = await clients.queueUrl(name);
    const answer = await clients.sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
    return [[name, answer.Attributes ?? {}]];
  } catch (error) {
    if (isNoSuchQueue(error)) return [];
    throw error;
  }
}

async function subscriptionsOf(
  { sns }: SpineClients,
  topic: TopicName,
  place: SpinePlace,
): Promise<DeployedTopology['subscriptions']> {
  const found = await listSubscriptions(sns, topicArn(topic, place));
  return Promise.all(
    found.map(async ({ arn, endpoint }) => {
      const answer = await sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn: arn }));
      return { topic, queue: lastPart(endpoint), attributes: answer.Attributes ?? {} };
    }),
  );
}

/**
 * Reads the deployed counterpart of a declaration.
 * @throws when the endpoint cannot be reached, or does not tell the account.
 */
export async function describeDeployed(declared: Topology, clients: SpineClients): Promise<DeployedTopology> {
  const place = await clients.place();
  const topics = (await Promise.all(declared.topics.map((topic) => topicNow(clients, topic.name, place)))).flat();
  const names = declared.queues.flatMap((queue) => [queue.name, queue.dlq]);
  const queues = (await Promise.all(names.map((name) => queueNow(clients, name)))).flat();
  const present = new Set(topics.map(([name]) => name));
  const asked = declared.topics.filter((topic) => present.has(topic.name));
  const subscriptions = (await Promise.all(asked.map((topic) => subscriptionsOf(clients, topic.name, place)))).flat();
  return { place, topics: Object.fromEntries(topics), queues: Object.fromEntries(queues), subscriptions };
}
