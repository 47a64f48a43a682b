import type { Clock, FeedbackItem, FeedbackResult } from '@sluice/contracts';
import type { JournalBody } from '../state/journal.ts';
import type { Changes, FeedbackRow, RouterStore, StoredDecision } from '../store/router-store.ts';
import type { Caller } from '../http/caller.ts';
import type { RouterKeeper } from './router-keeper.ts';
import type { WaitingLog } from './waiting-log.ts';

/** A gateway's decision is known when its usage event came, mostly within a second of the answer. */
const FRESH_MS = 60_000;
const POLL_MS = 100;

/** Takes feedback of a batch; each item has a result of its own. */
export type TakeFeedback = (items: readonly FeedbackItem[], caller: Caller) => Promise<FeedbackResult[]>;

export interface FeedbackDeps {
  readonly store: Pick<RouterStore, 'find'>;
  readonly keeper: Pick<RouterKeeper, 'record'>;
  readonly log: Pick<WaitingLog, 'flush'>;
  readonly clock: Clock;
  /** How long feedback waits for a decision that was made just now. */
  readonly waitMs?: number;
}

export function createFeedback({ store, keeper, log, clock, waitMs = 2_000 }: FeedbackDeps): TakeFeedback {
  /** Waits for decisions that are too young to be known, and only for those. */
  async function untilKnown(ids: readonly string[]): Promise<void> {
    const fresh = ids.filter((id) => Math.abs(clock.now() - timeOf(id)) < FRESH_MS);
    for (let waited = 0; fresh.length > 0 && waited < waitMs; waited += POLL_MS) {
      const found = await store.find(fresh);
      if (fresh.every((id) => found.has(id))) return;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  return async (items, caller) => {
    await log.flush();
    const ids = [...new Set(items.map(({ decision_id }) => decision_id))];
    await untilKnown(ids);
    let results: FeedbackResult[] = [];
    await keeper.record(async () => {
      const judged = judge(items, await store.find(ids), caller, Math.floor(clock.now()));
      results = judged.results;
      return { bodies: judged.bodies, ...(judged.changes === undefined ? {} : { with: judged.changes }) };
    });
    return results;
  };
}

function judge(
  items: readonly FeedbackItem[],
  found: ReadonlyMap<string, StoredDecision>,
  caller: Caller,
  nowMs: number,
): { results: FeedbackResult[]; bodies: JournalBody[]; changes: Changes | undefined } {
  const feedback: FeedbackRow[] = [];
  const rewards: NonNullable<Changes['rewards']>[number][] = [];
  const bodies: JournalBody[] = [];
  const results = items.map(({ decision_id, metric, value }): FeedbackResult => {
    const result = (status: FeedbackResult['status'], title: string): FeedbackResult => ({
      decision_id,
      metric,
      status,
      title,
    });
    const stored = found.get(decision_id);
    if (stored === undefined || !mayRead(caller, stored)) return result(404, 'Not found');
    const before =
      stored.feedback.find((row) => row.metric === metric)?.value ??
      feedback.find((row) => row.decisionId === decision_id && row.metric === metric)?.value;
    if (before !== undefined)
      return before === value ? result(202, 'Taken before') : result(409, `Another value was given before: ${before}`);
    if (nowMs > stored.expiresAtMs)
      return result(410, `Its time to be rated ended at ${new Date(stored.expiresAtMs).toISOString()}`);
    feedback.push({ decisionId: decision_id, metric, value, atMs: nowMs });
    if (metric === 'quality' && stored.rewardState === 'pending') {
      rewards.push({ id: decision_id, state: 'rewarded', reward: value });
      bodies.push({ kind: 'reward', tenant: stored.tenant, reward: value, decision: stored.decision });
    }
    return result(202, 'Taken');
  });
  return { results, bodies, changes: feedback.length === 0 ? undefined : { feedback, rewards } };
}

/** A service may read every decision, a key those of its own workspace. */
export function mayRead(caller: Caller, { workspace }: { readonly workspace: string }): boolean {
  return caller.kind === 'service' || caller.key.workspace.slug === workspace;
}

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The time in a ULID, epoch milliseconds. */
function timeOf(ulid: string): number {
  let ms = 0;
  for (const letter of ulid.slice(0, 10)) ms = ms * 32 + ALPHABET.indexOf(letter);
  return ms;
}
