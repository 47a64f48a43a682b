import {
  dlqAttributes,
  queueAttributes,
  subscriptionAttributes,
  topicAttributes,
  type QueueDeclaration,
  type Topology,
} from '@sluice/contracts';
import type { Attributes, DeployedTopology } from './describe-deployed.ts';

/** JSON text with sorted keys, so that a re-serialised policy is the same; other text as it is. */
export function canonicalJson(text: string | undefined): string | undefined {
  if (text === undefined || !text.startsWith('{')) return text;
  const sort = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sort);
    if (typeof value !== 'object' || value === null) return typeof value === 'number' ? String(value) : value;
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, inner]) => [key, sort(inner)]),
    );
  };
  return JSON.stringify(sort(JSON.parse(text)));
}

function compareAttributes(what: string, declared: Attributes, deployed: Attributes): string[] {
  return Object.entries(declared)
    .filter(([name, value]) => canonicalJson(value) !== canonicalJson(deployed[name]))
    .map(([name, value]) => `${what}: ${name} is ${deployed[name] ?? 'not set'}, declared ${value}`);
}

/** What SNS means by an attribute that a subscription does not show. */
const SUBSCRIPTION_DEFAULTS: Attributes = { FilterPolicy: '{}', FilterPolicyScope: 'MessageAttributes' };

/** What of one queue, its dead-letter queue and its subscription is not as declared, each in a sentence. */
export function compareQueue(queue: QueueDeclaration, deployed: DeployedTopology): string[] {
  const out: string[] = [];
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
    out.push(
      ...compareAttributes(
        `subscription of ${queue.name}`,
        { ...SUBSCRIPTION_DEFAULTS, ...subscriptionAttributes(queue) },
        { ...SUBSCRIPTION_DEFAULTS, ...attributes },
      ),
    );
  }
  for (const other of subscriptions)
    if (other.topic !== queue.topic) out.push(`queue ${queue.name} is also fed by ${other.topic}`);
  return out;
}

/**
 * Each difference in a sentence; empty when all that is declared is deployed as declared and the topics feed no
 * other queue.
 */
export function compareTopology(declared: Topology, deployed: DeployedTopology): string[] {
  const out: string[] = [];
  for (const topic of declared.topics) {
    const actual = deployed.topics[topic.name];
    if (actual === undefined) out.push(`topic ${topic.name} does not exist`);
    else out.push(...compareAttributes(`topic ${topic.name}`, topicAttributes(topic, deployed.place), actual));
  }
  for (const queue of declared.queues) out.push(...compareQueue(queue, deployed));
  const names = new Set(declared.queues.map((queue) => queue.name));
  for (const { topic, queue } of deployed.subscriptions)
    if (!names.has(queue)) out.push(`topic ${topic} feeds queue ${queue}, which is not declared`);
  return out;
}
