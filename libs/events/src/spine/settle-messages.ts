import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  SendMessageCommand,
  type Message,
} from '@aws-sdk/client-sqs';
import { DEAD_LETTER_REASON, RETRY_VISIBILITY_S, type QueueDeclaration } from '@sluice/contracts';
import type { SpineClients } from './spine-clients.ts';

type Spine = Pick<SpineClients, 'sqs' | 'queueUrl'>;

/** SQS takes ten attributes per message at most. */
const MAX_ATTRIBUTES = 10;
const REASON_LENGTH = 500;

const receiveCount = (message: Message): number => Number(message.Attributes?.ApproximateReceiveCount ?? 1);

/** Text that every SQS takes as an attribute: no control characters, nothing beyond the basic plane, never empty. */
function asReason(text: string): string {
  const clean = text.replace(/[^\x20-\x7e\u00a0-\ud7ff\ue000-\ufffd]/g, '?').slice(0, REASON_LENGTH);
  return clean === '' ? 'no reason was given' : clean;
}

export async function deleteAll(spine: Spine, url: string, messages: readonly Message[]): Promise<void> {
  if (messages.length === 0) return;
  await spine.sqs.send(
    new DeleteMessageBatchCommand({
      QueueUrl: url,
      Entries: messages.map((message, index) => ({ Id: String(index), ReceiptHandle: message.ReceiptHandle })),
    }),
  );
}

/** Makes messages visible again after so many seconds each. */
export async function showAgain(
  spine: Spine,
  url: string,
  messages: readonly Message[],
  afterS: (message: Message) => number,
): Promise<void> {
  if (messages.length === 0) return;
  await spine.sqs.send(
    new ChangeMessageVisibilityBatchCommand({
      QueueUrl: url,
      Entries: messages.map((message, index) => ({
        Id: String(index),
        ReceiptHandle: message.ReceiptHandle,
        VisibilityTimeout: afterS(message),
      })),
    }),
  );
}

/**
 * Ends a received batch: deletes what was handled, brings back what failed after 1 s, then 3 s. A message that
 * failed at its last receive is sent to the dead-letter queue with the reason as an attribute and only then
 * deleted; where that is refused SQS moves it itself at its next receive, without the reason.
 *
 * @returns how many became dead letters.
 */
export async function settleMessages(
  spine: Spine,
  queue: QueueDeclaration,
  url: string,
  messages: readonly Message[],
  failed: ReadonlyMap<string, string>,
): Promise<number> {
  const bad = messages.filter((message) => failed.has(message.MessageId ?? ''));
  await deleteAll(
    spine,
    url,
    messages.filter((message) => !bad.includes(message)),
  );
  const last = bad.filter((message) => receiveCount(message) >= queue.maxReceiveCount);
  const sent = await Promise.all(
    last.map((message) => sendDeadLetter(spine, queue, message, failed.get(message.MessageId ?? '') ?? '')),
  );
  const moved = last.filter((_, index) => sent[index]);
  await deleteAll(spine, url, moved);
  await showAgain(
    spine,
    url,
    bad.filter((message) => !moved.includes(message)),
    (message) => RETRY_VISIBILITY_S[receiveCount(message) - 1] ?? RETRY_VISIBILITY_S[0],
  );
  return last.length;
}

async function sendDeadLetter(
  spine: Spine,
  queue: QueueDeclaration,
  message: Message,
  reason: string,
): Promise<boolean> {
  const attributes = { ...message.MessageAttributes };
  if (attributes[DEAD_LETTER_REASON] === undefined && Object.keys(attributes).length >= MAX_ATTRIBUTES) return false;
  try {
    await spine.sqs.send(
      new SendMessageCommand({
        QueueUrl: await spine.queueUrl(queue.dlq),
        MessageBody: message.Body,
        MessageAttributes: {
          ...attributes,
          [DEAD_LETTER_REASON]: { DataType: 'String', StringValue: asReason(reason) },
        },
      }),
    );
    return true;
  } catch {
    return false;
  }
}
