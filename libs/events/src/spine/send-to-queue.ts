import { SendMessageCommand } from '@aws-sdk/client-sqs';
import type { SpineClients } from './spine-clients.ts';

export interface DirectMessage {
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Messages on their way at once. */
const PARALLEL = 10;

/**
 * Sends messages to a queue past its topic; resolves with the indexes of those that it refused.
 * @throws when the queue does not exist.
 */
export async function sendToQueue(
  queue: string,
  clients: SpineClients,
  messages: readonly DirectMessage[],
): Promise<number[]> {
  const QueueUrl = await clients.queueUrl(queue);
  const refused: number[] = [];
  for (let at = 0; at < messages.length; at += PARALLEL) {
    await Promise.all(
      messages.slice(at, at + PARALLEL).map(async ({ body, attributes }, index) => {
        const MessageAttributes = Object.fromEntries(
          Object.entries(attributes).map(([name, StringValue]) => [name, { DataType: 'String', StringValue }]),
        );
        await clients.sqs
          .send(new SendMessageCommand({ QueueUrl, MessageBody: body, MessageAttributes }))
          .catch(() => refused.push(at + index));
      }),
    );
  }
  return refused;
}
