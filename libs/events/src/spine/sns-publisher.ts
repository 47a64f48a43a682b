import { PublishBatchCommand, type PublishBatchRequestEntry } from '@aws-sdk/client-sns';
import { topicArn, type EventPublisher, type OutgoingEvent } from '@sluice/contracts';
import type { SpineLogger } from '../spine-logger.ts';
import type { SpineClients } from './spine-clients.ts';

const MAX_BATCH = 10;
/** SNS bounds a whole batch, attributes included. */
const MAX_BATCH_BYTES = 256 * 1024;
/** Batches on their way at once. */
const PARALLEL = 4;

const utf8 = (text: string): number => Buffer.byteLength(text);

function sizeOf(event: OutgoingEvent): number {
  return Object.entries(event.attributes).reduce(
    (sum, [name, value]) => sum + utf8(name) + utf8(value) + 6,
    utf8(event.body),
  );
}

/** Splits by topic, count and bytes, keeping order. An event that is too large by itself gets a batch of its own. */
export function batchesOf(events: readonly OutgoingEvent[]): OutgoingEvent[][] {
  const open = new Map<string, { batch: OutgoingEvent[]; bytes: number }>();
  const out: OutgoingEvent[][] = [];
  for (const event of events) {
    const size = sizeOf(event);
    let current = open.get(event.topic);
    if (current === undefined || current.batch.length === MAX_BATCH || current.bytes + size > MAX_BATCH_BYTES) {
      current = { batch: [], bytes: 0 };
      open.set(event.topic, current);
      out.push(current.batch);
    }
    current.batch.push(event);
    current.bytes += size;
  }
  return out;
}

function entryOf(event: OutgoingEvent, index: number): PublishBatchRequestEntry {
  const attributes = Object.entries(event.attributes).filter(([, value]) => value !== '');
  return {
    Id: String(index),
    Message: event.body,
    MessageAttributes: Object.fromEntries(
      attributes.map(([name, value]) => [name, { DataType: 'String', StringValue: value }]),
    ),
  };
}

export interface SnsPublisherDeps {
  readonly spine: Pick<SpineClients, 'sns' | 'place'>;
  readonly logger?: SpineLogger;
}

/**
 * Publishes usage, audit and anomaly events. It never throws: what SNS refused or could not be reached for comes
 * back by id.
 */
export function createSnsPublisher({ spine, logger }: SnsPublisherDeps): EventPublisher {
  const sendBatch = async (batch: readonly OutgoingEvent[]): Promise<string[]> => {
    const topic = (batch[0] as OutgoingEvent).topic;
    try {
      const answer = await spine.sns.send(
        new PublishBatchCommand({
          TopicArn: topicArn(topic, await spine.place()),
          PublishBatchRequestEntries: batch.map(entryOf),
        }),
      );
      const failed = answer.Failed ?? [];
      if (failed.length > 0)
        logger?.warn({ topic, failed: failed.length, code: failed[0]?.Code }, 'SNS refused a part of a batch');
      return failed.map((entry) => (batch[Number(entry.Id)] as OutgoingEvent).id);
    } catch (error) {
      logger?.warn({ topic, err: error }, 'a batch could not be published');
      return batch.map((event) => event.id);
    }
  };
  return {
    publish: async (events) => {
      const batches = batchesOf(events);
      const refused: string[] = [];
      for (let at = 0; at < batches.length; at += PARALLEL) {
        const answers = await Promise.all(batches.slice(at, at + PARALLEL).map(sendBatch));
        refused.push(...answers.flat());
      }
      return refused;
    },
    close: async () => undefined,
  };
}
