import { type Message, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import {
  errorWords,
  type EventConsumer,
  type EventHandler,
  type IncomingEvent,
  type QueueDeclaration,
} from '@sluice/contracts';
import type { SpineLogger } from '../spine-logger.ts';
import { judgeBatch } from './judge-batch.ts';
import { settleMessages } from './settle-messages.ts';
import type { SpineClients } from './spine-clients.ts';

/** One received batch. */
export interface ConsumedBatch {
  readonly received: number;
  readonly failed: number;
  readonly deadLettered: number;
  /** From receive to deletion. */
  readonly durationMs: number;
}

export interface SqsConsumerOptions {
  readonly spine: Pick<SpineClients, 'sqs' | 'queueUrl'>;
  readonly queue: QueueDeclaration;
  readonly handler: EventHandler;
  readonly logger?: SpineLogger;
  /**
   * Whether what the handler needs (its database) answers. Asked before the first receive and after each failure:
   * while it says no, nothing is received, so that an outage does not use up the receives of good messages.
   */
  readonly ready?: () => Promise<boolean>;
  /** Receive loops side by side; 1 when absent. More than one gives up order. */
  readonly receivers?: number;
  /** A handler that takes longer has failed its batch; stays below the queue's visibility timeout. */
  readonly handlerTimeoutMs?: number;
  /** Told of each batch when it is settled; must not throw. */
  readonly onBatch?: (batch: ConsumedBatch) => void;
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
    attributes: Object.fromEntries(
      Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [name, value.StringValue ?? '']),
    ),
    receiveCount: Number(message.Attributes?.ApproximateReceiveCount ?? 1),
  };
}

/**
 * Consumes one queue: long polls of ten, one batch at a time in each loop, so memory does not grow with the
 * backlog. Handled messages are deleted, failed ones come back after 1 s, then 3 s, and are dead-lettered with the
 * reason after the declared receives. A body that is too large, too deep or no JSON object fails without reaching
 * the handler.
 */
export function createSqsConsumer(options: SqsConsumerOptions): EventConsumer {
  const { spine, queue, logger } = options;
  const handlerTimeoutMs = options.handlerTimeoutMs ?? Math.max(1000, (queue.visibilityTimeoutS - 5) * 1000);
  const firstBackoffMs = options.outageBackoffMs ?? 250;
  const state: { -readonly [K in keyof EventConsumer['state']]: EventConsumer['state'][K] } = {
    broken: false,
    handled: 0,
    failed: 0,
    deadLettered: 0,
    lastError: undefined,
  };
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
    while (options.ready !== undefined && !stopping.signal.aborted && !(await options.ready()))
      await pause(READY_PAUSE_MS);
    return !stopping.signal.aborted;
  };

  /** @returns true when every message was handled. */
  const settle = async (url: string, messages: readonly Message[]): Promise<boolean> => {
    const startedMs = performance.now();
    const events = messages.map(toEvent);
    const failed = state.broken
      ? new Map(events.map((event) => [event.messageId, 'the consumer is broken on purpose']))
      : await judgeBatch(events, options.handler, handlerTimeoutMs);
    state.handled += messages.length - failed.size;
    state.failed += failed.size;
    let deadLettered = 0;
    if (failed.size > 0) {
      state.lastError = failed.values().next().value;
      logger?.warn(
        { queue: queue.name, failed: failed.size, reason: state.lastError },
        'messages failed; delivered again or dead-lettered',
      );
    }
    try {
      deadLettered = await settleMessages(spine, queue, url, messages, failed);
      state.deadLettered += deadLettered;
    } finally {
      options.onBatch?.({
        received: messages.length,
        failed: failed.size,
        deadLettered,
        durationMs: performance.now() - startedMs,
      });
    }
    return failed.size === 0;
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
        state.lastError = errorWords(error);
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
