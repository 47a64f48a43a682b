import { ChangeMessageVisibilityCommand, ListQueuesCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { tenantOfExportQueue, topicArn, type QueueDeclaration } from '@sluice/contracts';
import { listSubscriptions } from './list-subscriptions.ts';
import type { SpineClients } from './spine-clients.ts';

const lastPart = (text: string, separator: string): string => text.slice(text.lastIndexOf(separator) + 1);
const tenantsOf = (names: readonly string[]): string[] =>
  names.flatMap((name) => tenantOfExportQueue(name) ?? []).toSorted();

/** Tenants whose export queue exists, subscribed or not, sorted. @throws when SQS cannot be reached. */
export async function listExportQueues({ sqs }: SpineClients): Promise<string[]> {
  const names: string[] = [];
  let NextToken: string | undefined;
  do {
    const page = await sqs.send(
      new ListQueuesCommand({ MaxResults: 1000, ...(NextToken === undefined ? {} : { NextToken }) }),
    );
    names.push(...(page.QueueUrls ?? []).map((url) => lastPart(url, '/')));
    NextToken = page.NextToken;
  } while (NextToken !== undefined && NextToken !== '');
  return tenantsOf(names);
}

/**
 * Tenants whose export queue is subscribed to the audit topic, sorted.
 * @throws when the topic does not exist or SNS cannot be reached.
 */
export async function listExportSubscriptions(clients: SpineClients): Promise<string[]> {
  const found = await listSubscriptions(clients.sns, topicArn('audit-events', await clients.place()));
  return tenantsOf(found.map(({ endpoint }) => lastPart(endpoint, ':')));
}

/**
 * Looks for a message in a queue and its dead-letter queue, and puts it back at once. Counts of SQS are
 * approximate; a long poll asks all of its servers. Messages in flight are not seen.
 */
export async function holdsMessage(queue: QueueDeclaration, clients: SpineClients): Promise<boolean> {
  for (const name of [queue.name, queue.dlq]) {
    const QueueUrl = await clients.queueUrl(name);
    const { Messages } = await clients.sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 1, WaitTimeSeconds: 1, VisibilityTimeout: 1 }),
    );
    const found = Messages?.[0];
    if (found === undefined) continue;
    await clients.sqs.send(
      new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle: found.ReceiptHandle, VisibilityTimeout: 0 }),
    );
    return true;
  }
  return false;
}
