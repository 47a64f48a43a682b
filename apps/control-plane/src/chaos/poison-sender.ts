import type { EventPublisher, Topology } from '@sluice/contracts';
import type { PoisonSender } from '../api/chaos-part-routes.ts';
import { poisonMessages, type PoisonMessage } from './poison.ts';

/** Sends poison to topics by the publisher of events, and to queues past their topics. */
export function createPoisonSender(deps: {
  topology: Topology;
  publisher: Pick<EventPublisher, 'publish'>;
  /** Sends past the topic; resolves with the indexes that were refused. */
  sendToQueue: (
    queue: string,
    messages: readonly Pick<PoisonMessage, 'body' | 'attributes'>[],
  ) => Promise<readonly number[]>;
  clock: { now(): number };
  newId: () => string;
}): PoisonSender {
  const { topology, publisher, sendToQueue, clock, newId } = deps;
  const topicOf: PoisonSender['topicOf'] = (queue) =>
    topology.queues.find((declared) => declared.name === queue)?.topic;
  return {
    topicOf,
    queueOf: (topic) =>
      topology.queues.find((declared) => declared.topic === topic && declared.consumer === 'control-plane')?.name,
    send: async (target, { count, kinds = [] }) => {
      const topic = 'topic' in target ? target.topic : topicOf(target.queue);
      if (topic === undefined) throw new RangeError('the queue is not declared');
      const messages = poisonMessages(topic, count, kinds, new Date(clock.now()), newId);
      const refused =
        'topic' in target
          ? await publisher.publish(messages.map(({ id, body, attributes }) => ({ id, topic, body, attributes })))
          : await sendToQueue(target.queue, messages);
      return { messages, refused: refused.length };
    },
  };
}
