import type { Anomaly, Clock, EventConsumer, EventHandler } from '@sluice/contracts';
import { createAuditStore } from '../audit/audit-store.ts';
import type { Executor } from '../db/open-database.ts';
import type { Ledger } from '../ledger/create-ledger.ts';
import type { Watermark } from '../stream/config-stream.ts';
import { createAnomalyHandler } from './anomaly-handler.ts';
import { createAnomalyStore } from './anomaly-store.ts';
import { createAuditHandler } from './audit-handler.ts';
import { createMeteringHandler } from './metering-handler.ts';

/** Queues that the control plane consumes; the names of `declareTopology`. */
export type ConsumerName = 'metering' | 'audit' | 'anomaly';

export interface Consumers {
  readonly byName: Readonly<Record<ConsumerName, EventConsumer>>;
  start(): void;
  /** Stops receiving and waits for running batches. */
  stop(): Promise<void>;
  setBroken(name: ConsumerName, broken: boolean): void;
}

/** The control plane's three consumers. */
export function createConsumers(deps: {
  ledger: Pick<Ledger, 'insertBatch'>;
  db: Executor;
  clock: Pick<Clock, 'now'>;
  consumerFactory: (queueName: ConsumerName, handler: EventHandler) => EventConsumer;
  onWatermark?: (watermarks: readonly Watermark[]) => void;
  onAnomaly?: (anomaly: Anomaly) => void;
  putAside?: Parameters<typeof createMeteringHandler>[0]['putAside'];
}): Consumers {
  const { ledger, db, clock, consumerFactory, onWatermark, onAnomaly } = deps;
  const byName = {
    metering: consumerFactory(
      'metering',
      createMeteringHandler({ ledger, clock, putAside: deps.putAside, ...(onWatermark && { onWatermark }) }),
    ),
    audit: consumerFactory('audit', createAuditHandler({ store: createAuditStore({ db }), clock })),
    anomaly: consumerFactory(
      'anomaly',
      createAnomalyHandler({ store: createAnomalyStore({ db }), clock, ...(onAnomaly && { onAnomaly }) }),
    ),
  };
  const all = Object.values(byName);
  return {
    byName,
    start: () => all.forEach((consumer) => consumer.start()),
    stop: async () => {
      await Promise.all(all.map((consumer) => consumer.stop()));
    },
    setBroken: (name, broken) => byName[name].setBroken(broken),
  };
}
