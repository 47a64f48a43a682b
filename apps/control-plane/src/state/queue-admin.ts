import type { DeadLetterView, QueueDeclaration, RedriveAnswer, Topology } from '@sluice/contracts';
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
  redrive: (queue: QueueDeclaration) => Promise<Omit<RedriveAnswer, 'queue'> & { readonly fault?: string }>;
  deadLetters: (queue: QueueDeclaration, limit: number) => Promise<DeadLetterView[]>;
  discard: (queue: QueueDeclaration, ids: readonly string[]) => Promise<{ discarded: number; left: number }>;
  /** Told of each redrive that did something. */
  onRedrive?: (queue: string, result: { readonly moved: number; readonly refused: number }) => void;
}): QueueAdmin {
  const { topology, read, redrive, deadLetters, discard, onRedrive } = deps;
  const declared = new Map(topology.queues.map((queue) => [queue.name, queue]));
  const find = (name: string): QueueDeclaration => {
    const queue = declared.get(name);
    if (queue === undefined) throw new ProblemError(404, 'Not found');
    return queue;
  };
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
    knows: (name) => declared.has(name),
    redrive: async (name) => {
      const { fault, ...result } = await redrive(find(name));
      onRedrive?.(name, result);
      if (fault === undefined) return result;
      throw new ProblemError(502, 'The redrive broke off', { detail: `${result.moved} messages were moved, ${result.left} are left; then: ${fault.slice(0, 200)}. Repeating it is safe.` });
    },
    deadLetters: async (name, limit) => deadLetters(find(name), limit),
    discard: async (name, ids) => discard(find(name), ids),
  };
}
