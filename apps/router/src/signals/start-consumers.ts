import { declaredQueue, declareTopology, type EventConsumer, type EventHandler } from '@sluice/contracts';
import {
  checkConsumers,
  createSqsConsumer,
  readQueueStates,
  type ConsumerCheck,
  type SpineClients,
} from '@sluice/events';
import type { Logger, Metrics } from '@sluice/service-kit';

const TOPOLOGY = declareTopology([]);
const OWN = { topics: TOPOLOGY.topics, queues: TOPOLOGY.queues.filter((queue) => queue.consumer === 'router') };

export interface RunningConsumers {
  readonly check: ConsumerCheck;
  stop(): Promise<void>;
}

/** Consumes the router's two queues, and shows their state as metrics every `pollMs`. */
export function startConsumers(deps: {
  spine: SpineClients;
  usage: EventHandler;
  refusals: EventHandler;
  logger: Logger;
  metrics: Metrics;
  pollMs?: number;
}): RunningConsumers {
  const { spine, logger, metrics, pollMs = 5_000 } = deps;
  const consumers: Readonly<Record<string, EventConsumer>> = {
    'router-usage': createSqsConsumer({
      spine,
      queue: declaredQueue(TOPOLOGY, 'router-usage'),
      handler: deps.usage,
      logger,
    }),
    'router-anomaly': createSqsConsumer({
      spine,
      queue: declaredQueue(TOPOLOGY, 'router-anomaly'),
      handler: deps.refusals,
      logger,
    }),
  };
  const check = checkConsumers({
    process: 'router',
    queues: Object.keys(consumers),
    topology: TOPOLOGY,
    spine,
    logger,
  });
  const depth = metrics.gauge('sluice_router_queue_depth', 'messages that wait in a queue of the router', ['queue']);
  const handled = metrics.gauge('sluice_router_queue_handled', 'messages handled since the start', ['queue']);

  const poll = async (): Promise<void> => {
    for (const [queue, consumer] of Object.entries(consumers)) handled.set({ queue }, consumer.state.handled);
    try {
      for (const state of await readQueueStates(OWN, spine)) {
        depth.set({ queue: state.name }, state.waiting);
        depth.set({ queue: `${state.name}-dlq` }, state.dlq_depth);
      }
    } catch {
      // The depth is not known: no figure rather than an old one. The consumers say that the spine is away.
      depth.reset();
    }
  };
  const timer = setInterval(() => void poll(), pollMs);
  for (const consumer of Object.values(consumers)) consumer.start();
  return {
    check,
    stop: async () => {
      clearInterval(timer);
      await Promise.all([check.stop(), ...Object.values(consumers).map((consumer) => consumer.stop())]);
    },
  };
}
