import { ChangeMessageVisibilityBatchCommand, DeleteMessageBatchCommand, type Message, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { RETRY_VISIBILITY_S, type EventConsumer, type EventHandler, type IncomingEvent, type QueueDeclaration } from '@sluice/contracts';
import type { SpineLogger } from '../spine-logger.ts';
import { judgeBatch } from './judge-batch.ts';
import type { SpineClients } from './spine-clients.ts';

export interface SqsConsumerOptions {
  readonly spine: Pick<SpineClients, 'sqs' | 'queueUrl'>;
  readonly queue: QueueDeclaration;
  readonly handler: EventHandler;
  readonly logger?: SpineLogger;
  /**
   * Whether what the handler needs (its database) answers. Asked before the first receive and after each failure: while it says no,
   * nothing is received, so that an outage does not use up the receives of good messages.
   */
  readonly ready?: () => Promise<boolean>;
  /** Receive loops side by side; 1 when absent. More than one gives up order. */
  readonly receivers?: number;
  /** A handler that takes longer has failed its batch; stays below the queue's visibility timeout. */
  readonly handlerTimeoutMs?: number;
  /** First pause after an outage of SQS; doubles up to 10 s. */
  readonly outageBackoffMs?: number;
}

const MAX_BACKOFF_MS = 10_000;
/** How often readiness is asked for while it is missing. */
const READY_PAUSE_MS = 1_000;

function toEvent(message: Message): IncomingEvent {
  return {
    messageId: message.MessageId ?? '',
    body: message.Body ?? '',
    attributes: Object.fromEntries(Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [name, value.StringValue ?? ''])),
    receiveCount: Number(message.Attributes?.ApproximateReceiveCount ?? 1),
  };
}

/** Seconds until a message that failed at this receive is visible again. */
function retryAfterS(receiveCount: number): number {
  return RETRY_VISIBILITY_S[receiveCount - 1] ?? RETRY_VISIBILITY_S[0];
}

/**
 * Consumes one queue: long polls of ten, handled messages deleted, failed ones back after 1 s, then 3 s, dead-lettered by the
 * queue after its receives. A body that is not JSON has failed without reaching the handler.
 */
export function createSqsConsumer(options: SqsConsumerOptions): EventConsumer {
  const { spine, queue, logger } = options;
  const handlerTimeoutMs = options.handlerTimeoutMs ?? Math.max(1000, (queue.visibilityTimeoutS - 5) * 1000);
  const firstBackoffMs = options.outageBackoffMs ?? 250;
  const state: { broken: boolean; handled: number; failed: number; lastError: string | undefined } = { broken: false, handled: 0, failed: 0, lastError: undefined };
  let loops: Promise<void>[] = [];
  let stopping = new AbortController();

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const signal = stopping.signal;
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done);
    });

  const receive = async (url: string): Promise<Message[]> => {
    const answer = await spine.sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: url,
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: queue.receiveWaitS,
        VisibilityTimeout: queue.visibilityTimeoutS,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['ApproximateReceiveCount'],
      }),
      { abortSignal: stopping.signal },
    );
    return answer.Messages ?? [];
  };

  /** Waits until the handler can work; false when stopped before. */
  const becomeReady = async (): Promise<boolean> => {
    while (options.ready !== undefined && !stopping.signal.aborted && !(await options.ready())) await pause(READY_PAUSE_MS);
    return !stopping.signal.aborted;
  };

  /** @returns true when every message was handled. */
  const settle = async (url: string, messages: readonly Message[]): Promise<boolean> => {
    const events = messages.map(toEvent);
    const failed = state.broken
      ? new Map(events.map((event) => [event.messageId, 'the consumer is broken on purpose']))
      : await judgeBatch(events, options.handler, handlerTimeoutMs);
    const good = messages.filter((message) => !failed.has(message.MessageId ?? ''));
    const bad = messages.filter((message) => failed.has(message.MessageId ?? ''));
    state.handled += good.length;
    state.failed += bad.length;
    if (bad.length > 0) {
      state.lastError = failed.get(bad[0]?.MessageId ?? '');
      logger?.warn({ queue: queue.name, failed: bad.length, reason: state.lastError }, 'messages failed; delivered again or dead-lettered');
      await spine.sqs.send(
        new ChangeMessageVisibilityBatchCommand({
          QueueUrl: url,
          Entries: bad.map((message, index) => ({
            Id: String(index),
            ReceiptHandle: message.ReceiptHandle,
            VisibilityTimeout: retryAfterS(Number(message.Attributes?.ApproximateReceiveCount ?? 1)),
          })),
        }),
      );
    }
    if (good.length > 0) {
      await spine.sqs.send(
        new DeleteMessageBatchCommand({ QueueUrl: url, Entries: good.map((message, index) => ({ Id: String(index), ReceiptHandle: message.ReceiptHandle })) }),
      );
    }
    return bad.length === 0;
  };

  const loop = async (): Promise<void> => {
    let backoffMs = firstBackoffMs;
    let sure = false;
    while (!stopping.signal.aborted) {
      try {
        if (!sure && !(await becomeReady())) return;
        sure = true;
        const url = await spine.queueUrl(queue.name);
        const messages = await receive(url);
        if (messages.length > 0) sure = await settle(url, messages);
        backoffMs = firstBackoffMs;
      } catch (error) {
        if (stopping.signal.aborted) return;
        state.lastError = error instanceof Error ? error.message : String(error);
        logger?.warn({ queue: queue.name, err: error, backoffMs }, 'the queue cannot be read; tried again');
        await pause(backoffMs);
        backoffMs = Math.min(MAX_BACKOFF_MS, backoffMs * 2);
      }
    }
  };

  return {
    start: () => {
      if (loops.length > 0) return;
      stopping = new AbortController();
      loops = Array.from({ length: options.receivers ?? 1 }, loop);
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(loops);
      loops = [];
    },
    setBroken: (broken) => {
      state.broken = broken;
    },
    get state() {
      return { ...state };
    },
  };
}
