import { Anomaly, type Clock, type EventHandler } from '@sluice/contracts';
import type { AnomalyStore } from './anomaly-store.ts';
import { readBatch } from './read-batch.ts';
import { storeIsolated } from './store-isolated.ts';

/** Keeps anomalies and tells of each new one. */
export function createAnomalyHandler(deps: {
  store: Pick<AnomalyStore, 'insert'>;
  clock: Pick<Clock, 'now'>;
  onAnomaly?: (anomaly: Anomaly) => void;
}): EventHandler {
  return async (batch) => {
    const { events, failed } = readBatch(Anomaly, batch, deps.clock);
    await storeIsolated(events, failed, async (anomalies) => {
      const added = await deps.store.insert(anomalies);
      for (const anomaly of anomalies) if (added.delete(anomaly.event_id)) deps.onAnomaly?.(anomaly);
    });
    return { failed };
  };
}
