import {
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { TOPOLOGY, type QueueDeclaration } from '@sluice/contracts';
import { createSqsConsumer, type ConsumedBatch } from './sqs-consumer.ts';

const metering = TOPOLOGY.queues.find((queue) => queue.name === 'metering') as QueueDeclaration;

/** A queue that makes its messages when they are asked for, so that a backlog costs the test no memory itself. */
function backlogOf(count: number, receiveCount = 1) {
  const queue = { received: 0, deleted: 0, most: 0, sent: [] as SendMessageCommand[], drained: Promise.resolve() };
  let drained: () => void = () => undefined;
  queue.drained = new Promise((resolve) => {
    drained = resolve;
  });
  const send = async (command: object, options: { abortSignal?: AbortSignal } = {}): Promise<object> => {
    if (command instanceof SendMessageCommand) queue.sent.push(command);
    if (command instanceof DeleteMessageBatchCommand) {
      queue.deleted += command.input.Entries?.length ?? 0;
      if (queue.deleted === count) drained();
    }
    if (!(command instanceof ReceiveMessageCommand)) return {};
    const some = Math.min(10, count - queue.received);
    if (some === 0) {
      await new Promise((_resolve, reject) =>
        options.abortSignal?.addEventListener('abort', () => reject(new Error('aborted'))),
      );
    }
    const Messages = Array.from({ length: some }, (_, n) => ({
      MessageId: `m-${queue.received + n}`,
      ReceiptHandle: `r-${queue.received + n}`,
      Body: `{"n":${queue.received + n},"pad":"${'x'.repeat(2_000)}"}`,
      Attributes: { ApproximateReceiveCount: String(receiveCount) },
    }));
    queue.received += some;
    queue.most = Math.max(queue.most, queue.received - queue.deleted);
    return { Messages };
  };
  return { queue, spine: { sqs: { send } as unknown as SQSClient, queueUrl: async (name: string) => name } };
}

describe('a consumer', () => {
  it('that is 100,000 messages behind holds ten at a time, and its memory does not grow', async () => {
    const { queue, spine } = backlogOf(100_000);
    const heap: number[] = [];
    const consumer = createSqsConsumer({
      spine,
      queue: metering,
      handler: async () => {
        if (queue.received % 20_000 === 0) heap.push(process.memoryUsage().heapUsed / 2 ** 20);
        return { failed: new Map() };
      },
    });
    consumer.start();
    await queue.drained;
    await consumer.stop();
    expect(consumer.state).toMatchObject({ handled: 100_000, failed: 0 });
    expect(queue.most).toBe(10);
    // The backlog's bodies alone are 200 MB.
    expect(Math.max(...heap) - Math.min(...heap)).toBeLessThan(100);
  });

  it('tells of each batch what became of it', async () => {
    const { queue, spine } = backlogOf(10, 3);
    const batches: ConsumedBatch[] = [];
    const consumer = createSqsConsumer({
      spine,
      queue: metering,
      handler: async (batch) => ({
        failed: new Map(
          batch
            .filter((event) => event.messageId.endsWith('3'))
            .map((event) => [event.messageId, `bad\u0000 ${'y'.repeat(900)} 🚀`]),
        ),
      }),
      onBatch: (batch) => batches.push(batch),
    });
    consumer.start();
    await queue.drained;
    await consumer.stop();
    expect(batches).toMatchObject([{ received: 10, failed: 1, deadLettered: 1 }]);
    const reason = queue.sent[0]?.input.MessageAttributes?.['sluice_dead_letter_reason']?.StringValue;
    expect(queue.sent[0]?.input).toMatchObject({
      QueueUrl: 'metering-dlq',
      MessageBody: expect.stringContaining('"n":3'),
    });
    expect(reason).toMatch(/^bad\? y{495}$/);
  });
});
