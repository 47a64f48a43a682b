import {
  CallSettled,
  EventOrigin,
  systemClock,
  type Clock,
  type EventHandler,
  type IncomingEvent,
} from '@sluice/contracts';
import type { Ledger } from '../ledger/create-ledger.ts';
import type { Watermark } from '../stream/config-stream.ts';
import type { PutAside } from './put-aside.ts';
import { readBatch } from './read-batch.ts';
import { storeIsolated } from './store-isolated.ts';

/** Writes settled calls to the ledger. A message that cannot be read fails alone, with its reason. */
export function createMeteringHandler(deps: {
  ledger: Pick<Ledger, 'insertBatch'>;
  /** The system's when absent. */
  clock?: Pick<Clock, 'now'>;
  /** Called after each stored batch with where the ledger stands for the gateways in it. */
  onWatermark?: (watermarks: readonly Watermark[]) => void;
  /** Takes over what failed at its last receive. */
  putAside?: { readonly records: Pick<PutAside, 'takeUsage'>; readonly lastReceive: number } | undefined;
}): EventHandler {
  return async (batch) => {
    const { events, failed } = readBatch(CallSettled, batch, deps.clock ?? systemClock);
    await storeIsolated(events, failed, async (settled) => {
      const { watermarks } = await deps.ledger.insertBatch(settled);
      deps.onWatermark?.(watermarks);
    });
    await takeOver(batch, failed, deps.putAside);
    return { failed };
  };
}

/**
 * A record that fails for good becomes a dead letter. Its gateway waits for the ledger to have everything before it,
 * so without more its whole outbox would fill up behind this one.
 */
async function takeOver(
  batch: readonly IncomingEvent[],
  failed: ReadonlyMap<string, string>,
  putAside: Parameters<typeof createMeteringHandler>[0]['putAside'],
): Promise<void> {
  if (putAside === undefined) return;
  for (const { messageId, body, receiveCount } of batch) {
    const reason = failed.get(messageId);
    if (reason === undefined || receiveCount < putAside.lastReceive) continue;
    const origin = originOf(body);
    if (origin !== undefined) await putAside.records.takeUsage(origin, { reason, body });
  }
}

function originOf(body: string): EventOrigin | undefined {
  try {
    const read = EventOrigin.safeParse(JSON.parse(body));
    return read.success ? read.data : undefined;
  } catch {
    return undefined;
  }
}
