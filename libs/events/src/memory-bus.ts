import {
  DEAD_LETTER_REASON,
  TOPOLOGY,
  type EventConsumer,
  type EventHandler,
  type EventPublisher,
  type IncomingEvent,
  type QueueDeclaration,
  type Topology,
} from '@sluice/contracts';
import { judgeBatch } from './spine/judge-batch.ts';

interface Stored {
  readonly event: IncomingEvent;
  receives: number;
}

/**
 * An event spine in memory: the declared filters, at-least-once, dead-lettering after the declared receives. No
 * time passes in it.
 */
export interface MemoryBus {
  readonly publisher: EventPublisher;
  /**
   * A consumer of a declared queue. Its handler runs when messages arrive and it was started.
   * @throws for an unknown queue.
   */
  consumer(queue: string, handler: EventHandler): EventConsumer;
  /** Messages that wait in a queue, dead-letter queues too. */
  messages(queue: string): readonly IncomingEvent[];
  /** While down every publish is refused. */
  setDown(down: boolean): void;
  /** Empties a queue, as a purge would. */
  purge(queue: string): void;
  /** Resolves when no started consumer has anything left to do. */
  idle(): Promise<void>;
}

function passes(queue: QueueDeclaration, attributes: Readonly<Record<string, string>>): boolean {
  return Object.entries(queue.filter ?? {}).every(([name, allowed]) => allowed.includes(attributes[name] ?? ''));
}

/** For tests of what publishes or consumes. */
export function createMemoryBus(topology: Topology = TOPOLOGY): MemoryBus {
  const stores = new Map<string, Stored[]>(
    topology.queues.flatMap((queue) => [
      [queue.name, []],
      [queue.dlq, []],
    ]),
  );
  const pumps = new Map<string, () => void>();
  const running = new Set<Promise<void>>();
  let down = false;
  let count = 0;

  const store = (name: string): Stored[] => {
    const found = stores.get(name);
    if (found === undefined) throw new RangeError(`no queue ${name} is declared`);
    return found;
  };

  const consumer = (name: string, handler: EventHandler): EventConsumer => {
    const queue = topology.queues.find((candidate) => candidate.name === name);
    if (queue === undefined) throw new RangeError(`no queue ${name} is declared`);
    const state: { -readonly [K in keyof EventConsumer['state']]: EventConsumer['state'][K] } = {
      broken: false,
      handled: 0,
      failed: 0,
      deadLettered: 0,
      lastError: undefined,
    };
    let started = false;
    let current: Promise<void> | undefined;

    const round = async (): Promise<void> => {
      await Promise.resolve();
      while (started && store(name).length > 0) {
        const batch = store(name).splice(0, 10);
        for (const stored of batch) stored.receives += 1;
        const events = batch.map((stored) => ({ ...stored.event, receiveCount: stored.receives }));
        const failed = state.broken
          ? new Map(events.map((event) => [event.messageId, 'broken']))
          : await judgeBatch(events, handler, 25_000);
        for (const stored of batch) {
          const reason = failed.get(stored.event.messageId);
          if (reason === undefined) state.handled += 1;
          else {
            state.failed += 1;
            state.lastError = reason;
            if (stored.receives < queue.maxReceiveCount) store(name).push(stored);
            else {
              state.deadLettered += 1;
              store(queue.dlq).push({
                ...stored,
                event: { ...stored.event, attributes: { ...stored.event.attributes, [DEAD_LETTER_REASON]: reason } },
              });
            }
          }
        }
      }
    };
    const pump = (): void => {
      if (!started || current !== undefined) return;
      const promise = round().finally(() => {
        current = undefined;
        running.delete(promise);
        if (started && store(name).length > 0) pump();
      });
      current = promise;
      running.add(promise);
    };
    pumps.set(name, pump);
    return {
      start: () => {
        started = true;
        pump();
      },
      stop: async () => {
        started = false;
        await current;
      },
      setBroken: (broken) => {
        state.broken = broken;
      },
      get state() {
        return { ...state };
      },
    };
  };

  return {
    publisher: {
      publish: async (events) => {
        if (down) return events.map((event) => event.id);
        for (const event of events) {
          for (const queue of topology.queues) {
            if (queue.topic !== event.topic || !passes(queue, event.attributes)) continue;
            count += 1;
            store(queue.name).push({
              event: { messageId: `m-${count}`, body: event.body, attributes: event.attributes, receiveCount: 0 },
              receives: 0,
            });
            pumps.get(queue.name)?.();
          }
        }
        return [];
      },
      close: async () => undefined,
    },
    consumer,
    messages: (queue) => store(queue).map((stored) => ({ ...stored.event, receiveCount: stored.receives })),
    setDown: (value) => {
      down = value;
    },
    purge: (queue) => {
      store(queue).length = 0;
    },
    idle: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
