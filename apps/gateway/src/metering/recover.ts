import type { CallSettled, CallStarted, Clock, LimitScope, LimitStore, UsageOutbox } from '@sluice/contracts';
import type { CompiledConfig } from '../compiled-config.ts';
import type { QuotaKeeper } from './quota-keeper.ts';
import { interruptedEvent } from './usage-events.ts';

export interface RecoverDeps {
  readonly config: CompiledConfig;
  readonly outbox: UsageOutbox;
  /** Calls that an earlier process started and never settled. */
  readonly unmatched: readonly CallStarted[];
  /** Settled calls that are still on disk, oldest first. */
  readonly settled: Iterable<CallSettled>;
  readonly limits: LimitStore;
  readonly quotas: QuotaKeeper;
  readonly clock: Clock;
}

/**
 * Brings a gateway back to where it stood: quota counters from the checkpoint and what the outbox holds beyond it, then
 * every call that the last process left open is settled as interrupted. To be done before the first admission.
 */
export async function recover(deps: RecoverDeps): Promise<{ restored: boolean; replayed: number; interrupted: number }> {
  const scopeOf = (event: Pick<CallSettled, 'key_id' | 'workspace'>): LimitScope | undefined =>
    deps.config.keys.get(event.key_id)?.scope ?? deps.config.workspaces.get(event.workspace)?.scope;
  const counters = await deps.quotas.restore(deps.settled, scopeOf);
  for (const started of deps.unmatched) {
    const event = interruptedEvent(started, deps.clock);
    const origin = await deps.outbox.appendSettled(event);
    const scope = scopeOf(event);
    if (scope !== undefined) {
      await deps.limits.replay({ scope, atMs: deps.clock.now(), usage: event.usage, costNanoUsd: event.billed_nanousd });
    }
    deps.quotas.counted(origin.epoch, origin.sequence);
  }
  return { ...counters, interrupted: deps.unmatched.length };
}
