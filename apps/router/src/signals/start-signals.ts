import { declaredQueue, declareTopology, type Clock, type EventConsumer } from '@sluice/contracts';
import { checkConsumers, createSqsConsumer, readQueueStates, type ConsumerCheck, type SpineClients } from '@sluice/events';
import { boundedLabel, type Logger, type Metrics } from '@sluice/service-kit';
import { createRefusalHandler, createUsageHandler } from './signal-handlers.ts';
import { createTenantSignals, type TenantSignalStore } from './tenant-signals.ts';

const TOPOLOGY = declareTopology([]);
const OWN = { topics: TOPOLOGY.topics, queues: TOPOLOGY.queues.filter((queue) => queue.consumer === 'router') };

export interface RunningSignals {
  readonly signals: TenantSignalStore;
  readonly check: ConsumerCheck;
  stop(): Promise<void>;
}

/** Consumes the router's two queues into signals per tenant, and shows both as metrics every `pollMs`. */
export function startSignals(deps: { spine: SpineClients; clock: Clock; logger: Logger; metrics: Metrics; pollMs?: number }): RunningSignals {
  const { spine, clock, logger, metrics, pollMs = 5_000 } = deps;
  const signals = createTenantSignals({ clock });
  const consumers: Readonly<Record<string, EventConsumer>> = {
    'router-usage': createSqsConsumer({ spine, queue: declaredQueue(TOPOLOGY, 'router-usage'), handler: createUsageHandler(signals), logger }),
    'router-anomaly': createSqsConsumer({ spine, queue: declaredQueue(TOPOLOGY, 'router-anomaly'), handler: createRefusalHandler(signals), logger }),
  };
  const check = checkConsumers({ process: 'router', queues: Object.keys(consumers), topology: TOPOLOGY, spine, logger });
  const depth = metrics.gauge('sluice_router_queue_depth', 'messages that wait in a queue of the router', ['queue']);
  const handled = metrics.gauge('sluice_router_queue_handled', 'messages handled since the start', ['queue']);
  const tenantLabel = boundedLabel();
  const difficulty = metrics.gauge('sluice_router_tenant_difficulty', 'length of answers, 0 to 1', ['tenant']);
  const pressure = metrics.gauge('sluice_router_tenant_pressure', 'share of requests throttled or shed, 0 to 1', ['tenant']);

  const poll = async (): Promise<void> => {
    for (const one of signals.all()) {
      difficulty.set({ tenant: tenantLabel(one.tenant) }, one.difficulty);
      pressure.set({ tenant: tenantLabel(one.tenant) }, one.pressure);
    }
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
    signals,
    check,
    stop: async () => {
      clearInterval(timer);
      await Promise.all([check.stop(), ...Object.values(consumers).map((consumer) => consumer.stop())]);
    },
  };
}
