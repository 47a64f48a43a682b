import type { Clock, DeadLetterView, QueueDeclaration, RedriveAnswer, Topology } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { QueueAdmin } from '../api/ports.ts';

/** What is read of one queue. */
export interface ReadQueue {
  readonly name: string;
  readonly waiting: number;
  readonly in_flight: number;
  readonly dlq_depth: number;
}

/**
 * The queues as operators see them. SQS tells the age of a dead letter to CloudWatch only, so `oldest_age_s` is how
 * long the dead-letter queue has been seen non-empty without a break, by this process.
 */
export function createQueueAdmin(deps: {
  clock: Pick<Clock, 'now'>;
  /** What exists now: the declared queues, and exports that drain. */
  topology: () => Topology;
  read: (topology: Topology) => Promise<readonly ReadQueue[]>;
  redrive: (queue: QueueDeclaration) => Promise<Omit<RedriveAnswer, 'queue'> & { readonly fault?: string }>;
  deadLetters: (queue: QueueDeclaration, limit: number) => Promise<DeadLetterView[]>;
  discard: (queue: QueueDeclaration, ids: readonly string[]) => Promise<{ discarded: number; left: number }>;
  /** Told of each redrive that did something. */
  onRedrive?: (queue: string, result: { readonly moved: number; readonly refused: number }) => void;
}): QueueAdmin {
  const { clock, topology, read, redrive, deadLetters, discard, onRedrive } = deps;
  const filledSinceMs = new Map<string, number>();
  const known = (name: string): QueueDeclaration | undefined => topology().queues.find((queue) => queue.name === name);
  const find = (name: string): QueueDeclaration => {
    const queue = known(name);
    if (queue === undefined) throw new ProblemError(404, 'Not found');
    return queue;
  };

  function age(dlq: string, depth: number): number | null {
    if (depth === 0) {
      filledSinceMs.delete(dlq);
      return null;
    }
    const now = clock.now();
    const since = filledSinceMs.get(dlq) ?? now;
    filledSinceMs.set(dlq, since);
    return Math.max(0, now - since) / 1000;
  }

  return {
    readStates: async () => {
      const now = topology();
      const declared = new Map(now.queues.map((queue) => [queue.name, queue]));
      const states = await read(now).catch((cause: unknown) => {
        throw new ProblemError(503, 'The event spine does not answer', {
          detail: 'Queues cannot be read now. Events wait on the disks of gateways and in the database.',
          cause,
        });
      });
      return states.flatMap((state) => {
        const queue = declared.get(state.name);
        if (queue === undefined) return [];
        return [
          {
            queue: queue.name,
            dlq: queue.dlq,
            depth: state.dlq_depth,
            oldest_age_s: age(queue.dlq, state.dlq_depth),
            topic: queue.topic,
            waiting: state.waiting,
            in_flight: state.in_flight,
            consumer: queue.consumer ?? null,
          },
        ];
      });
    },
    knows: (name) => known(name) !== undefined,
    redrive: async (name) => {
      const { fault, ...result } = await redrive(find(name));
      onRedrive?.(name, result);
      if (fault === undefined) return result;
      throw new ProblemError(502, 'The redrive broke off', {
        detail: `${result.moved} messages were moved, ${result.left} are left; then: ${fault.slice(0, 200)}. Repeating it is safe.`,
      });
    },
    deadLetters: async (name, limit) => deadLetters(find(name), limit),
    discard: async (name, ids) => discard(find(name), ids),
  };
}
