import {
  CreateTopicCommand,
  SetSubscriptionAttributesCommand,
  SetTopicAttributesCommand,
  SubscribeCommand,
  UnsubscribeCommand,
} from '@aws-sdk/client-sns';
import { CreateQueueCommand, DeleteQueueCommand, SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import {
  dlqAttributes,
  placeOfArn,
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
import { listSubscriptions } from './list-subscriptions.ts';
import { isNoSuchQueue, type SpineClients } from './spine-clients.ts';

/** @returns the place that the topic's ARN tells. */
async function ensureTopic({ sns }: SpineClients, topic: TopicDeclaration): Promise<SpinePlace> {
  const { TopicArn } = await sns.send(new CreateTopicCommand({ Name: topic.name }));
  const place = placeOfArn(TopicArn ?? '');
  if (place === undefined)
    throw new Error(`SNS gave the topic ${topic.name} the ARN '${TopicArn ?? ''}', which names no account`);
  for (const [AttributeName, AttributeValue] of Object.entries(topicAttributes(topic, place))) {
    await sns.send(new SetTopicAttributesCommand({ TopicArn, AttributeName, AttributeValue }));
  }
  return place;
}

async function ensureQueue(
  clients: SpineClients,
  name: string,
  attributes: Readonly<Record<string, string>>,
): Promise<void> {
  let url: string | undefined;
  try {
    url = await clients.queueUrl(name);
    await clients.sqs.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: { ...attributes } }));
  } catch (error) {
    if (!isNoSuchQueue(error)) throw error;
    clients.forgetQueue(name);
    await clients.sqs.send(new CreateQueueCommand({ QueueName: name, Attributes: { ...attributes } }));
  }
}

async function ensureSubscription({ sns }: SpineClients, queue: QueueDeclaration, place: SpinePlace): Promise<void> {
  const TopicArn = topicArn(queue.topic, place);
  const Endpoint = queueArn(queue.name, place);
  const attributes = subscriptionAttributes(queue);
  const existing = (await listSubscriptions(sns, TopicArn)).find((subscription) => subscription.endpoint === Endpoint);
  if (existing === undefined) {
    await sns.send(
      new SubscribeCommand({
        TopicArn,
        Protocol: 'sqs',
        Endpoint,
        Attributes: { ...attributes },
        ReturnSubscriptionArn: true,
      }),
    );
    return;
  }
  // A filter that is no longer declared is emptied: `{}` lets everything through.
  for (const [AttributeName, AttributeValue] of Object.entries({ FilterPolicy: '{}', ...attributes })) {
    await sns.send(
      new SetSubscriptionAttributesCommand({ SubscriptionArn: existing.arn, AttributeName, AttributeValue }),
    );
  }
}

async function provisionAt(queue: QueueDeclaration, clients: SpineClients, place: SpinePlace): Promise<void> {
  await ensureQueue(clients, queue.dlq, dlqAttributes(queue, place));
  await ensureQueue(clients, queue.name, queueAttributes(queue, place));
  await ensureSubscription(clients, queue, place);
}

/**
 * Creates one declared queue with its dead-letter queue and its subscription; the topic exists. Repeating it
 * changes nothing.
 */
export async function provisionQueue(queue: QueueDeclaration, clients: SpineClients): Promise<void> {
  await provisionAt(queue, clients, await clients.place());
}

/**
 * Ends the queue's subscription, so that nothing new arrives; what is in the queue stays. Repeating it changes
 * nothing.
 */
export async function unsubscribeQueue(queue: QueueDeclaration, clients: SpineClients): Promise<void> {
  const place = await clients.place();
  const endpoint = queueArn(queue.name, place);
  const own = (await listSubscriptions(clients.sns, topicArn(queue.topic, place))).filter(
    (subscription) => subscription.endpoint === endpoint,
  );
  for (const { arn } of own) await clients.sns.send(new UnsubscribeCommand({ SubscriptionArn: arn }));
}

/** Deletes a queue and its dead-letter queue with all that is in them. The caller has made sure that they are empty. */
export async function removeQueue(queue: QueueDeclaration, clients: SpineClients): Promise<void> {
  for (const name of [queue.name, queue.dlq]) {
    try {
      await clients.sqs.send(new DeleteQueueCommand({ QueueUrl: await clients.queueUrl(name) }));
    } catch (error) {
      if (!isNoSuchQueue(error)) throw error;
    } finally {
      clients.forgetQueue(name);
    }
  }
}

/**
 * Creates what is declared and sets the attributes of what is there already; removes nothing. Repeating it changes
 * nothing. The account is the one that SNS puts into the ARNs of its topics.
 *
 * @throws the SDK's error when the endpoint cannot be reached or refuses.
 */
export async function provisionTopology(topology: Topology, clients: SpineClients): Promise<void> {
  const [place] = await Promise.all(topology.topics.map((topic) => ensureTopic(clients, topic)));
  if (place === undefined) throw new RangeError('a topology without topics cannot be provisioned');
  await Promise.all(topology.queues.map((queue) => provisionAt(queue, clients, place)));
}
