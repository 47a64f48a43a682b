import { setTimeout as sleep } from 'node:timers/promises';
import type {
  CallSettled,
  CallStarted,
  Clock,
  EventOrigin,
  LimitScope,
  LimitStore,
  UsageOutbox,
} from '@sluice/contracts';
import type { CompiledConfig } from '../compiled-config.ts';
import type { QuotaKeeper } from './quota-keeper.ts';
import { interruptedEvent, type UnplacedSettled } from './usage-events.ts';

const DISK_RETRY_MS = 1_000;
/** A boot waits this long for the ledger's part of lost counters; later it is added while calls are served. */
const LEDGER_WAIT_MS = 3_000;

export interface RecoverDeps {
  readonly config: CompiledConfig;
  readonly outbox: UsageOutbox;
  /** Calls that an earlier process started and never settled. */
  readonly unmatched: readonly CallStarted[];
  /** Settled calls that are still on disk, oldest first. */
  readonly settled: Iterable<CallSettled>;
  readonly firstOnDisk: ReadonlyMap<number, number>;
  readonly limits: LimitStore;
  readonly quotas: QuotaKeeper;
  readonly clock: Clock;
  /** The disk takes no record; it is tried again until it does. */
  readonly onDiskFault: (error: unknown) => void;
}

/**
 * Brings a gateway back to where it stood: quota counters from the checkpoint and what the outbox holds beyond it,
 * then every call that the last process left open is settled as interrupted; where the checkpoint is lost, the
 * ledger's part is added when the ledger answers. To be done before the first admission.
 */
export async function recover(
  deps: RecoverDeps,
): Promise<{ restored: boolean; replayed: number; interrupted: number }> {
  const scopeOf = (event: Pick<CallSettled, 'key_id' | 'workspace'>): LimitScope | undefined =>
    deps.config.keys.get(event.key_id)?.scope ?? deps.config.workspaces.get(event.workspace)?.scope;
  const counters = await deps.quotas.restore(deps.settled, scopeOf, {
    epoch: deps.outbox.epoch,
    firstOnDisk: deps.firstOnDisk,
  });
  for (const started of deps.unmatched) {
    const event = interruptedEvent(started, deps.clock);
    const origin = await appendWhenItFits(deps, event);
    const scope = scopeOf(event);
    if (scope !== undefined) {
      await deps.limits.replay({
        scope,
        atMs: deps.clock.now(),
        usage: event.usage,
        costNanoUsd: event.billed_nanousd,
        ...(origin && { origin }),
      });
    }
    if (origin !== undefined) deps.quotas.counted(origin.epoch, origin.sequence);
  }
  await Promise.race([deps.quotas.settleOwed(), sleep(LEDGER_WAIT_MS, undefined, { ref: false })]);
  return { ...counters, interrupted: deps.unmatched.length };
}

/** A full disk becomes free as the ledger acknowledges what is on it, which goes on meanwhile. */
async function appendWhenItFits(
  { outbox, onDiskFault }: RecoverDeps,
  event: UnplacedSettled,
): Promise<EventOrigin | undefined> {
  for (;;) {
    try {
      return await outbox.appendSettled(event);
    } catch (error) {
      onDiskFault(error);
      await sleep(DISK_RETRY_MS);
    }
  }
}
