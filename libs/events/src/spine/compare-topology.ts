import { GetSubscriptionAttributesCommand, ListSubscriptionsByTopicCommand, ListTopicsCommand } from '@aws-sdk/client-sns';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { dlqAttributes, queueAttributes, subscriptionAttributes, topicArn, type SpinePlace, type Topology } from '@sluice/contracts';
import type { SpineClients } from './spine-clients.ts';

type Attributes = Readonly<Record<string, string>>;

/** What is really there of the names that a topology declares. */
export interface DeployedTopology {
  readonly place: SpinePlace;
  /** Names of all topics. */
  readonly topics: readonly string[];
  /** Attributes by queue name, dead-letter queues too; a queue that does not exist is absent. */
  readonly queues: Readonly<Record<string, Attributes>>;
  /** By queue name, one per subscription of the declared topics. */
  readonly subscriptions: readonly { readonly topic: string; readonly queue: string; readonly attributes: Attributes }[];
}

const lastPart = (arn: string): string => arn.slice(arn.lastIndexOf(':') + 1);

async function queueNow(clients: SpineClients, name: string): Promise<[string, Attributes][]> {
  try {
    const QueueUrl = await clients.queueUrl(name);
    const answer = await clients.sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
    return [[name, answer.Attributes ?? {}]];
  } catch (error) {
    if (error instanceof Error && /NonExistentQueue|QueueDoesNotExist/.test(error.name)) return [];
    throw error;
  }
}

async function subscriptionsOf(clients: SpineClients, topic: string, arn: string): Promise<DeployedTopology['subscriptions']> {
  const found: { SubscriptionArn: string; Endpoint: string }[] = [];
  let NextToken: string | undefined;
  do {
    const page = await clients.sns.send(new ListSubscriptionsByTopicCommand({ TopicArn: arn, ...(NextToken === undefined ? {} : { NextToken }) }));
    for (const { SubscriptionArn, Endpoint, Protocol } of page.Subscriptions ?? []) {
      if (Protocol === 'sqs' && SubscriptionArn !== undefined && Endpoint !== undefined) found.push({ SubscriptionArn, Endpoint });
    }
    NextToken = page.NextToken;
  } while (NextToken !== undefined && NextToken !== '');
  return Promise.all(
    found.map(async ({ SubscriptionArn, Endpoint }) => {
      const answer = await clients.sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn }));
      return { topic, queue: lastPart(Endpoint), attributes: answer.Attributes ?? {} };
    }),
  );
}

/** Reads the deployed counterpart of a declaration. @throws when the endpoint cannot be reached. */
export async function describeDeployed(declared: Topology, clients: SpineClients): Promise<DeployedTopology> {
  const topics: string[] = [];
  let NextToken: string | undefined;
  do {
    const page = await clients.sns.send(new ListTopicsCommand(NextToken === undefined ? {} : { NextToken }));
    topics.push(...(page.Topics ?? []).map((topic) => lastPart(topic.TopicArn ?? '')));
    NextToken = page.NextToken;
  } while (NextToken !== undefined && NextToken !== '');
  const names = declared.queues.flatMap((queue) => [queue.name, queue.dlq]);
  const queues = (await Promise.all(names.map((name) => queueNow(clients, name)))).flat();
  const present = declared.topics.filter((topic) => topics.includes(topic.name));
  const subscriptions = (await Promise.all(present.map((topic) => subscriptionsOf(clients, topic.name, topicArn(topic.name, clients.place))))).flat();
  return { place: clients.place, topics, queues: Object.fromEntries(queues), subscriptions };
}

/** JSON text with sorted keys, so that a re-serialised policy is the same; other text as it is. */
function canonical(text: string | undefined): string | undefined {
  if (text === undefined || !text.startsWith('{')) return text;
  const sort = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sort);
    if (typeof value !== 'object' || value === null) return typeof value === 'number' ? String(value) : value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sort(inner)]));
  };
  return JSON.stringify(sort(JSON.parse(text)));
}

function compareAttributes(what: string, declared: Attributes, deployed: Attributes): string[] {
  return Object.entries(declared)
    .filter(([name, value]) => canonical(value) !== canonical(deployed[name]))
    .map(([name, value]) => `${what}: ${name} is ${deployed[name] ?? 'not set'}, declared ${value}`);
}

/** Each difference in a sentence; empty when all that is declared is deployed as declared and the topics feed no other queue. */
export function compareTopology(declared: Topology, deployed: DeployedTopology): string[] {
  const out: string[] = [];
  for (const topic of declared.topics) if (!deployed.topics.includes(topic.name)) out.push(`topic ${topic.name} does not exist`);
  for (const queue of declared.queues) {
    const expected = [
      [queue.name, queueAttributes(queue, deployed.place)],
      [queue.dlq, dlqAttributes(queue, deployed.place)],
    ] as const;
    for (const [name, attributes] of expected) {
      const actual = deployed.queues[name];
      if (actual === undefined) out.push(`queue ${name} does not exist`);
      else out.push(...compareAttributes(`queue ${name}`, attributes, actual));
    }
    const subscriptions = deployed.subscriptions.filter((subscription) => subscription.queue === queue.name);
    const own = subscriptions.filter((subscription) => subscription.topic === queue.topic);
    if (own.length !== 1) out.push(`queue ${queue.name} has ${own.length} subscriptions to ${queue.topic}, declared 1`);
    for (const { attributes } of own) {
      out.push(...compareAttributes(`subscription of ${queue.name}`, { FilterPolicy: '{}', ...subscriptionAttributes(queue) }, { ...attributes, FilterPolicy: attributes['FilterPolicy'] ?? '{}' }));
    }
    for (const other of subscriptions) if (other.topic !== queue.topic) out.push(`queue ${queue.name} is also fed by ${other.topic}`);
  }
  const names = new Set(declared.queues.map((queue) => queue.name));
  for (const { topic, queue } of deployed.subscriptions) if (!names.has(queue)) out.push(`topic ${topic} feeds queue ${queue}, which is not declared`);
  return out;
}
