import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import type { Topology } from '@sluice/contracts';
import type { SpineClients } from './spine-clients.ts';

/** How full a queue is. SQS gives approximate counts. */
export interface QueueState {
  readonly name: string;
  readonly waiting: number;
  readonly in_flight: number;
  readonly dlq_depth: number;
}

/** How many messages of a queue can be received and how many are hidden; approximate. */
export async function queueDepth(clients: SpineClients, name: string): Promise<{ waiting: number; inFlight: number }> {
  const answer = await clients.sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: await clients.queueUrl(name),
      AttributeNames: [
        'ApproximateNumberOfMessages',
        'ApproximateNumberOfMessagesNotVisible',
        'ApproximateNumberOfMessagesDelayed',
      ],
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
      const [own, dead] = await Promise.all([queueDepth(clients, queue.name), queueDepth(clients, queue.dlq)]);
      return {
        name: queue.name,
        waiting: own.waiting,
        in_flight: own.inFlight,
        dlq_depth: dead.waiting + dead.inFlight,
      };
    }),
  );
}
