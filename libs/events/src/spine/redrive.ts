import {
  ListMessageMoveTasksCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  StartMessageMoveTaskCommand,
  type Message,
} from '@aws-sdk/client-sqs';
import { setTimeout as delay } from 'node:timers/promises';
import { DEAD_LETTER_REASON, queueArn, systemClock, type Clock, type QueueDeclaration } from '@sluice/contracts';
import { queueDepth } from './queue-states.ts';
import { deleteAll, showAgain } from './settle-messages.ts';
import type { SpineClients } from './spine-clients.ts';

export interface RedriveResult {
  /** Messages moved back. */
  readonly moved: number;
  /** What the dead-letter queue holds afterwards; approximate, as every count of SQS. */
  readonly left: number;
  /** Messages that the queue does not take again; they stay where they are. */
  readonly refused: number;
  /** True when SQS moves them by its own task. */
  readonly native: boolean;
  /** False when a bound ended it, or SQS is still moving: call again, or look again. */
  readonly finished: boolean;
  /** What ended it early; what was moved until then is moved. */
  readonly fault?: string;
}

export interface RedriveOptions {
  readonly clock?: Pick<Clock, 'monotonic'>;
  /** Messages at most; 10,000 when absent. */
  readonly maxMessages?: number;
  /** Milliseconds at most; 20,000 when absent. */
  readonly timeoutMs?: number;
  /** Between looks at a running move task, milliseconds. */
  readonly pollMs?: number;
}

interface Bounds {
  readonly until: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly pollMs: number;
}

/** Below what SQS and SNS take in one batch. */
const BATCH_BYTES = 240 * 1024;
const HIDDEN_S = 30;

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');
const textOf = (error: unknown): string =>
  error instanceof Error && error.message !== '' ? error.message : nameOf(error);

/**
 * Moves what is in the dead-letter queue back to its source, by SQS's own task where the endpoint has it. Without
 * it each message is sent before it is deleted, so that a crash in between delivers it twice and never loses it. By
 * hand at most what was there at the beginning is moved, so that a message that fails again does not go round for
 * ever.
 *
 * @throws the SDK's error when the endpoint does not answer or refuses at the beginning; later ones are the
 * result's `fault`.
 */
export async function redrive(
  queue: QueueDeclaration,
  clients: SpineClients,
  options: RedriveOptions = {},
): Promise<RedriveResult> {
  const { clock = systemClock, maxMessages = 10_000, timeoutMs = 20_000, pollMs = 250 } = options;
  const bounds: Bounds = { clock, pollMs, until: clock.monotonic() + timeoutMs };
  const { waiting, inFlight } = await queueDepth(clients, queue.dlq);
  if (waiting === 0) return { moved: 0, left: inFlight, refused: 0, native: false, finished: true };
  if (await startNative(queue, clients)) return followNative(queue, clients, bounds);
  return moveByHand(queue, clients, Math.min(waiting, maxMessages), waiting > maxMessages, bounds);
}

/** True when SQS moves the messages; false where it has no such task. */
async function startNative(queue: QueueDeclaration, { sqs, place: placeOf }: SpineClients): Promise<boolean> {
  const place = await placeOf();
  const SourceArn = queueArn(queue.dlq, place);
  try {
    await sqs.send(new StartMessageMoveTaskCommand({ SourceArn, DestinationArn: queueArn(queue.name, place) }));
    return true;
  } catch (error) {
    if (/AccessDenied|ResourceNotFound|NonExistentQueue|QueueDoesNotExist/.test(nameOf(error))) throw error;
  }
  // One task per queue is allowed: a refusal may mean that one runs already.
  try {
    const { Results = [] } = await sqs.send(new ListMessageMoveTasksCommand({ SourceArn, MaxResults: 1 }));
    return Results[0]?.Status === 'RUNNING';
  } catch {
    return false;
  }
}

async function followNative(
  queue: QueueDeclaration,
  clients: SpineClients,
  { clock, until, pollMs }: Bounds,
): Promise<RedriveResult> {
  const SourceArn = queueArn(queue.dlq, await clients.place());
  for (;;) {
    const { Results = [] } = await clients.sqs.send(new ListMessageMoveTasksCommand({ SourceArn, MaxResults: 1 }));
    const task = Results[0];
    const running = task?.Status === 'RUNNING' || task?.Status === 'CANCELLING';
    if (!running || clock.monotonic() >= until) {
      const { waiting, inFlight } = await queueDepth(clients, queue.dlq);
      return {
        moved: Number(task?.ApproximateNumberOfMessagesMoved ?? 0),
        left: waiting + inFlight,
        refused: 0,
        native: true,
        finished: !running,
        ...(task?.Status === 'FAILED' && { fault: task.FailureReason ?? 'the move task failed' }),
      };
    }
    await delay(pollMs);
  }
}

async function moveByHand(
  queue: QueueDeclaration,
  clients: SpineClients,
  atMost: number,
  more: boolean,
  { clock, until }: Bounds,
): Promise<RedriveResult> {
  const from = await clients.queueUrl(queue.dlq);
  const to = await clients.queueUrl(queue.name);
  const kept: Message[] = [];
  let moved = 0;
  let fault: string | undefined;
  let late = false;
  try {
    while (moved + kept.length < atMost && !(late = clock.monotonic() >= until)) {
      const answer = await clients.sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: from,
          MaxNumberOfMessages: Math.min(10, atMost - moved - kept.length),
          WaitTimeSeconds: 0,
          MessageAttributeNames: ['All'],
          VisibilityTimeout: HIDDEN_S,
        }),
      );
      const messages = answer.Messages ?? [];
      if (messages.length === 0) break;
      const taken = await sendBack(clients, to, messages);
      await deleteAll(clients, from, taken);
      moved += taken.length;
      kept.push(...messages.filter((message) => !taken.includes(message)));
    }
    for (let at = 0; at < kept.length; at += 10) await showAgain(clients, from, kept.slice(at, at + 10), () => 0);
  } catch (error) {
    fault = textOf(error);
  }
  const left = await queueDepth(clients, queue.dlq).then(
    ({ waiting, inFlight }) => waiting + inFlight,
    () => Math.max(0, atMost - moved),
  );
  return {
    moved,
    left,
    refused: kept.length,
    native: false,
    finished: !late && !more && fault === undefined,
    ...(fault !== undefined && { fault }),
  };
}

/**
 * Sends messages to a queue with their attributes, but for the reason of their death; resolves with those that it
 * took.
 */
async function sendBack(clients: SpineClients, url: string, messages: readonly Message[]): Promise<Message[]> {
  const entries = messages.map((message, index) => ({
    Id: String(index),
    MessageBody: message.Body,
    MessageAttributes: withoutReason(message),
  }));
  const bytes = entries.reduce((sum, entry) => sum + Buffer.byteLength(JSON.stringify(entry)), 0);
  const taken = new Set<number>();
  if (bytes <= BATCH_BYTES) {
    const { Successful = [] } = await clients.sqs.send(
      new SendMessageBatchCommand({ QueueUrl: url, Entries: entries }),
    );
    for (const { Id } of Successful) taken.add(Number(Id));
  }
  for (const [index, entry] of entries.entries()) {
    if (taken.has(index)) continue;
    try {
      await clients.sqs.send(
        new SendMessageCommand({
          QueueUrl: url,
          MessageBody: asciiJson(entry.MessageBody),
          MessageAttributes: entry.MessageAttributes,
        }),
      );
      taken.add(index);
    } catch (error) {
      if (!isRefusal(error)) throw error;
    }
  }
  return messages.filter((_, index) => taken.has(index));
}

/** True when SQS answered and does not take the message; anything else is an outage. */
function isRefusal(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    Reflect.get(error, '$fault') === 'client' &&
    /Invalid|Missing|TooLong|Unsupported/.test(nameOf(error))
  );
}

function withoutReason({ MessageAttributes = {} }: Message): Message['MessageAttributes'] {
  return Object.fromEntries(Object.entries(MessageAttributes).filter(([name]) => name !== DEAD_LETTER_REASON));
}

/**
 * The same JSON with every character beyond ASCII escaped. Some endpoints refuse in a direct send what a topic has
 * brought (emoji, for one); in JSON such characters stand in strings only, where the escape means the same. Other
 * text is left.
 */
function asciiJson(body: string | undefined): string | undefined {
  if (body === undefined) return undefined;
  try {
    JSON.parse(body);
  } catch {
    return body;
  }
  return body.replace(/[^\t\n\r\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
