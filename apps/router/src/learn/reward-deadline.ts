import type { Clock } from '@sluice/contracts';
import type { JournalBody } from '../state/journal.ts';
import type { Changes, RouterStore, StoredDecision } from '../store/router-store.ts';
import type { RouterKeeper } from './router-keeper.ts';

const BATCH = 500;
/** Calls that the provider, or we, failed: nobody was served, whatever model had been chosen. */
const FAILED = new Set(['upstream_error', 'timeout', 'internal_error', 'interrupted']);

/**
 * The one rule for decisions that nobody rated in time, the same for every model: the given outcome if there is
 * one; 0 for a call that failed; else the default reward; without one the decision counts for nothing.
 */
export function rewardAtDeadline(
  { feedback, call }: Pick<StoredDecision, 'feedback' | 'call'>,
  defaultReward: number | undefined,
): { readonly state: 'rewarded' | 'defaulted' | 'expired'; readonly reward?: number } {
  const outcome = feedback.find(({ metric }) => metric === 'outcome')?.value;
  if (outcome !== undefined) return { state: 'rewarded', reward: outcome };
  if (call !== undefined && FAILED.has(call.outcome)) return { state: 'defaulted', reward: 0 };
  return defaultReward === undefined ? { state: 'expired' } : { state: 'defaulted', reward: defaultReward };
}

/** Settles what is due; returns how many decisions that were. */
export async function settleDue(deps: {
  readonly store: Pick<RouterStore, 'due'>;
  readonly keeper: Pick<RouterKeeper, 'record'>;
  readonly clock: Clock;
  readonly defaultReward: number | undefined;
}): Promise<number> {
  let settled = 0;
  await deps.keeper.record(async () => {
    const due = await deps.store.due(deps.clock.now(), BATCH);
    const bodies: JournalBody[] = [];
    const rewards: NonNullable<Changes['rewards']>[number][] = [];
    for (const one of due) {
      const { state, reward } = rewardAtDeadline(one, deps.defaultReward);
      rewards.push({ id: one.id, state, reward });
      if (reward !== undefined) bodies.push({ kind: 'reward', tenant: one.tenant, reward, decision: one.decision });
    }
    settled = due.length;
    return { bodies, ...(rewards.length === 0 ? {} : { with: { rewards } }) };
  });
  return settled;
}
