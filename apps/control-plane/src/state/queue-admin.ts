import type { QueueDeclaration, Topology } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { QueueAdmin } from '../api/ports.ts';

/** What is read of one queue. */
export interface ReadQueue {
  readonly name: string;
  readonly waiting: number;
  readonly in_flight: number;
  readonly dlq_depth: number;
  readonly oldest_age_ms: number | null;
}

/** The declared queues as operators see them. */
export function createQueueAdmin(deps: {
  topology: Topology;
  read: () => Promise<readonly ReadQueue[]>;
  redrive: (queue: QueueDeclaration) => Promise<{ readonly moved: number }>;
}): QueueAdmin {
  const { topology, read, redrive } = deps;
  const declared = new Map(topology.queues.map((queue) => [queue.name, queue]));
  return {
    readStates: async () =>
      (await read()).flatMap((state) => {
        const queue = declared.get(state.name);
        if (queue === undefined) return [];
        return [
          {
            queue: queue.name,
            dlq: queue.dlq,
            depth: state.dlq_depth,
            oldest_age_s: state.oldest_age_ms === null ? null : state.oldest_age_ms / 1000,
            topic: queue.topic,
            waiting: state.waiting,
            in_flight: state.in_flight,
            consumer: queue.consumer ?? null,
          },
        ];
      }),
    redrive: async (name) => {
      const queue = declared.get(name);
      if (queue === undefined) throw new ProblemError(404, 'Not found');
      return (await redrive(queue)).moved;
    },
  };
}
