import { ReceiveMessageCommand, type Message } from '@aws-sdk/client-sqs';
import { DEAD_LETTER_REASON, type QueueDeclaration } from '@sluice/contracts';
import { queueDepth } from './queue-states.ts';
import { deleteAll, showAgain } from './settle-messages.ts';
import type { SpineClients } from './spine-clients.ts';

/** A dead letter as it is looked at. */
export interface DeadLetter {
  readonly message_id: string;
  /**
   * Why its last delivery failed; null when the queue itself dead-lettered it, for instance while its consumer was
   * killed.
   */
  readonly reason: string | null;
  /** When it came to the dead-letter queue, where the endpoint tells. */
  readonly sent_at: string | null;
  /** The first 4,096 characters. */
  readonly body: string;
  readonly body_bytes: number;
  readonly attributes: Readonly<Record<string, string>>;
}

const SHOWN_CHARACTERS = 4_096;
/** Hidden while they are looked at: longer than a look takes, so that it meets no message twice. */
const HIDDEN_S = 20;

/** Receives up to `limit` dead letters, gives them to `use`, and shows those again that it did not take. */
async function look<T>(
  queue: QueueDeclaration,
  clients: SpineClients,
  limit: number,
  use: (url: string, messages: readonly Message[]) => Promise<{ taken: readonly Message[]; result: T }>,
): Promise<T> {
  const url = await clients.queueUrl(queue.dlq);
  const found: Message[] = [];
  let taken: readonly Message[] = [];
  try {
    while (found.length < limit) {
      const { Messages = [] } = await clients.sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: url,
          MaxNumberOfMessages: Math.min(10, limit - found.length),
          WaitTimeSeconds: 0,
          VisibilityTimeout: HIDDEN_S,
          MessageAttributeNames: ['All'],
          MessageSystemAttributeNames: ['SentTimestamp'],
        }),
      );
      if (Messages.length === 0) break;
      found.push(...Messages);
    }
    const used = await use(url, found);
    taken = used.taken;
    return used.result;
  } finally {
    const left = found.filter((message) => !taken.includes(message));
    for (let at = 0; at < left.length; at += 10) await showAgain(clients, url, left.slice(at, at + 10), () => 0);
  }
}

/**
 * Looks at some dead letters of a queue. They are hidden from a redrive for the moment of the look, and never removed.
 *
 * @param limit 1 to 100.
 */
export function readDeadLetters(queue: QueueDeclaration, clients: SpineClients, limit: number): Promise<DeadLetter[]> {
  return look(queue, clients, limit, async (_url, messages) => ({ taken: [], result: messages.map(toDeadLetter) }));
}

/** Dead letters that are looked through for the ones to discard. */
const DISCARD_LOOK = 1_000;

/** Deletes dead letters for good, by their ids; one that is not among the first 1,000 is not found. */
export function discardDeadLetters(
  queue: QueueDeclaration,
  clients: SpineClients,
  ids: readonly string[],
): Promise<{ discarded: number; left: number }> {
  const wanted = new Set(ids);
  return look(queue, clients, DISCARD_LOOK, async (url, messages) => {
    const taken = messages.filter((message) => wanted.has(message.MessageId ?? ''));
    for (let at = 0; at < taken.length; at += 10) await deleteAll(clients, url, taken.slice(at, at + 10));
    const { waiting, inFlight } = await queueDepth(clients, queue.dlq);
    return { taken, result: { discarded: taken.length, left: waiting + inFlight } };
  });
}

function toDeadLetter(message: Message): DeadLetter {
  const body = message.Body ?? '';
  const attributes = Object.fromEntries(
    Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [name, value.StringValue ?? '']),
  );
  const { [DEAD_LETTER_REASON]: reason = null, ...others } = attributes;
  const sentMs = Number(message.Attributes?.SentTimestamp);
  return {
    message_id: message.MessageId ?? '',
    reason,
    sent_at: sentMs > 0 ? new Date(sentMs).toISOString() : null,
    body: body.slice(0, SHOWN_CHARACTERS),
    body_bytes: Buffer.byteLength(body),
    attributes: others,
  };
}
