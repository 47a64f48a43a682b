import { CreateTopicCommand, ListSubscriptionsByTopicCommand, SetSubscriptionAttributesCommand, SubscribeCommand } from '@aws-sdk/client-sns';
import { CreateQueueCommand, GetQueueUrlCommand, SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { dlqAttributes, queueArn, queueAttributes, subscriptionAttributes, topicArn, type QueueDeclaration, type Topology } from '@sluice/contracts';
import type { SpineClients } from './spine-clients.ts';

async function ensureQueue({ sqs }: SpineClients, name: string, attributes: Readonly<Record<string, string>>): Promise<void> {
  let url: string | undefined;
  try {
    url = (await sqs.send(new GetQueueUrlCommand({ QueueName: name }))).QueueUrl;
  } catch (error) {
    if (!(error instanceof Error && /NonExistentQueue|QueueDoesNotExist/.test(error.name))) throw error;
  }
  if (url === undefined) await sqs.send(new CreateQueueCommand({ QueueName: name, Attributes: { ...attributes } }));
  else await sqs.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: { ...attributes } }));
}

async function ensureSubscription(clients: SpineClients, queue: QueueDeclaration): Promise<void> {
  const { sns, place } = clients;
  const TopicArn = topicArn(queue.topic, place);
  const Endpoint = queueArn(queue.name, place);
  const attributes = subscriptionAttributes(queue);
  const existing = await findSubscription(clients, TopicArn, Endpoint);
  if (existing === undefined) {
    await sns.send(new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint, Attributes: { ...attributes }, ReturnSubscriptionArn: true }));
    return;
  }
  // A filter that is no longer declared is emptied: `{}` lets everything through.
  for (const [AttributeName, AttributeValue] of Object.entries({ FilterPolicy: '{}', ...attributes })) {
    await sns.send(new SetSubscriptionAttributesCommand({ SubscriptionArn: existing, AttributeName, AttributeValue }));
  }
}

async function findSubscription({ sns }: SpineClients, TopicArn: string, endpoint: string): Promise<string | undefined> {
  let NextToken: string | undefined;
  do {
    const page = await sns.send(new ListSubscriptionsByTopicCommand({ TopicArn, ...(NextToken === undefined ? {} : { NextToken }) }));
    const hit = page.Subscriptions?.find((subscription) => subscription.Endpoint === endpoint);
    if (hit !== undefined) return hit.SubscriptionArn;
    NextToken = page.NextToken;
  } while (NextToken !== undefined && NextToken !== '');
  return undefined;
}

/** Creates one declared queue with its dead-letter queue and its subscription; the topic exists. Repeating it changes nothing. */
export async function provisionQueue(queue: QueueDeclaration, clients: SpineClients): Promise<void> {
  await ensureQueue(clients, queue.dlq, dlqAttributes(queue, clients.place));
  await ensureQueue(clients, queue.name, queueAttributes(queue, clients.place));
  await ensureSubscription(clients, queue);
}

/**
 * Creates what is declared and sets the attributes of what is there already; removes nothing. Repeating it changes nothing.
 *
 * @throws the SDK's error when the endpoint cannot be reached or refuses.
 */
export async function provisionTopology(topology: Topology, clients: SpineClients): Promise<void> {
  await Promise.all(topology.topics.map((topic) => clients.sns.send(new CreateTopicCommand({ Name: topic.name }))));
  await Promise.all(topology.queues.map((queue) => provisionQueue(queue, clients)));
}
