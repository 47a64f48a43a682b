import { CallSettled, systemClock, type Clock, type EventHandler } from '@sluice/contracts';
import type { Ledger } from '../ledger/create-ledger.ts';
import type { Watermark } from '../stream/config-stream.ts';
import { readBatch } from './read-batch.ts';
import { storeIsolated } from './store-isolated.ts';

/** Writes settled calls to the ledger. A message that cannot be read fails alone, with its reason. */
export function createMeteringHandler(deps: {
  ledger: Pick<Ledger, 'insertBatch'>;
  /** The system's when absent. */
  clock?: Pick<Clock, 'now'>;
  /** Called after each stored batch with where the ledger stands for the gateways in it. */
  onWatermark?: (watermarks: readonly Watermark[]) => void;
}): EventHandler {
  return async (batch) => {
    const { events, failed } = readBatch(CallSettled, batch, deps.clock ?? systemClock);
    await storeIsolated(events, failed, async (settled) => {
      const { watermarks } = await deps.ledger.insertBatch(settled);
      deps.onWatermark?.(watermarks);
    });
    return { failed };
  };
}
