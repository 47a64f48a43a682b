import { DeleteMessageBatchCommand, GetQueueAttributesCommand, ReceiveMessageCommand, SendMessageBatchCommand, StartMessageMoveTaskCommand } from '@aws-sdk/client-sqs';
import { queueArn, type QueueDeclaration, type Topology } from '@sluice/contracts';
import type { SpineClients } from './spine-clients.ts';

/** How full a queue is. SQS gives approximate counts. */
export interface QueueState {
  readonly name: string;
  readonly waiting: number;
  readonly in_flight: number;
  readonly dlq_depth: number;
  /** Null where the endpoint does not tell (SQS tells CloudWatch only). */
  readonly oldest_age_ms: number | null;
}

async function depth(clients: SpineClients, name: string): Promise<{ waiting: number; inFlight: number }> {
  const answer = await clients.sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: await clients.queueUrl(name),
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible', 'ApproximateNumberOfMessagesDelayed'],
    }),
  );
  const count = (key: string): number => Number((answer.Attributes as Record<string, string> | undefined)?.[key] ?? 0);
  return {
    waiting: count('ApproximateNumberOfMessages') + count('ApproximateNumberOfMessagesDelayed'),
    inFlight: count('ApproximateNumberOfMessagesNotVisible'),
  };
}

/** The state of every declared queue. @throws when a queue does not exist or SQS cannot be reached. */
export async function readQueueStates(topology: Topology, clients: SpineClients): Promise<QueueState[]> {
  return Promise.all(
    topology.queues.map(async (queue) => {
      const [own, dead] = await Promise.all([depth(clients, queue.name), depth(clients, queue.dlq)]);
      return { name: queue.name, waiting: own.waiting, in_flight: own.inFlight, dlq_depth: dead.waiting + dead.inFlight, oldest_age_ms: null };
    }),
  );
}

export interface RedriveResult {
  /** Messages moved, or about to be moved by SQS itself. */
  readonly moved: number;
  /** True when SQS moves them in the background. */
  readonly native: boolean;
}

/**
 * Moves what is in the dead-letter queue back to its source, by SQS's own task where the endpoint has it. Without it each
 * message is sent before it is deleted, so that a crash in between delivers it twice and never loses it.
 */
export async function redrive(queue: QueueDeclaration, clients: SpineClients): Promise<RedriveResult> {
  const { waiting } = await depth(clients, queue.dlq);
  try {
    const place = await clients.place();
    await clients.sqs.send(new StartMessageMoveTaskCommand({ SourceArn: queueArn(queue.dlq, place), DestinationArn: queueArn(queue.name, place) }));
    return { moved: waiting, native: true };
  } catch (error) {
    if (error instanceof Error && /AccessDenied|ResourceNotFound|NonExistentQueue/.test(error.name)) throw error;
  }
  return { moved: await moveByHand(queue, clients, waiting), native: false };
}

/** Moves at most what was there at the beginning, so that a message that fails again at once does not go round for ever. */
async function moveByHand(queue: QueueDeclaration, clients: SpineClients, atMost: number): Promise<number> {
  const from = await clients.queueUrl(queue.dlq);
  const to = await clients.queueUrl(queue.name);
  let moved = 0;
  while (moved < atMost) {
    const answer = await clients.sqs.send(
      new ReceiveMessageCommand({ QueueUrl: from, MaxNumberOfMessages: Math.min(10, atMost - moved), WaitTimeSeconds: 0, MessageAttributeNames: ['All'], VisibilityTimeout: 30 }),
    );
    const messages = answer.Messages ?? [];
    if (messages.length === 0) break;
    const sent = await clients.sqs.send(
      new SendMessageBatchCommand({
        QueueUrl: to,
        Entries: messages.map((message, index) => ({ Id: String(index), MessageBody: message.Body, MessageAttributes: message.MessageAttributes })),
      }),
    );
    const taken = sent.Successful ?? [];
    if (taken.length === 0) throw new Error(`the queue ${queue.name} refused the messages: ${sent.Failed?.[0]?.Message ?? 'no reason given'}`);
    await clients.sqs.send(
      new DeleteMessageBatchCommand({ QueueUrl: from, Entries: taken.map(({ Id }) => ({ Id, ReceiptHandle: messages[Number(Id)]?.ReceiptHandle })) }),
    );
    moved += taken.length;
  }
  return moved;
}
