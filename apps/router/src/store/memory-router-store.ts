import {
  KEPT_SNAPSHOTS,
  type Changes,
  type FeedbackRow,
  type RouterStore,
  type StoredDecision,
} from './router-store.ts';
import { missingScorers, slimSnapshot, wholeSnapshot, type SlimSnapshot } from './slim-snapshot.ts';
import type { RouterSnapshot } from '@sluice/contracts';
import type { JournalEntry } from '../state/journal.ts';
import type { RouterStateSaved } from '../state/router-state.ts';

/**
 * Keeps everything in this process, for a router without a database, and for tests. Bounded: the oldest decisions
 * go first.
 */
export function createMemoryRouterStore({ maxDecisions = 100_000 }: { maxDecisions?: number } = {}): RouterStore {
  const decisions = new Map<string, StoredDecision>();
  let entries: JournalEntry[] = [];
  let last = 0;
  let until = -Infinity;
  let checkpoint: RouterStateSaved | undefined;
  let soft: unknown;
  const snapshots = new Map<string, SlimSnapshot>();
  const scorers = new Map<string, unknown>();

  function change(id: string, more: Partial<StoredDecision>): void {
    const found = decisions.get(id);
    if (found !== undefined) decisions.set(id, { ...found, ...more });
  }

  function addFeedback(row: FeedbackRow): void {
    const found = decisions.get(row.decisionId);
    if (found !== undefined && found.feedback.every(({ metric }) => metric !== row.metric))
      change(row.decisionId, { feedback: [...found.feedback, row] });
  }

  function keepSnapshot(snapshot: RouterSnapshot): void {
    const { slim, scorers: own } = slimSnapshot(snapshot);
    snapshots.set(snapshot.snapshot_id, structuredClone(slim));
    for (const [id, scorer] of own) if (!scorers.has(id)) scorers.set(id, structuredClone(scorer));
    if (snapshots.size <= KEPT_SNAPSHOTS) return;
    snapshots.delete(snapshots.keys().next().value as string);
    const used = new Set([...snapshots.values()].flatMap(missingScorers));
    for (const id of scorers.keys()) if (!used.has(id)) scorers.delete(id);
  }

  function commit({
    decisions: rows = [],
    calls = [],
    feedback = [],
    rewards = [],
    entries: more = [],
    checkpoint: saved,
    soft: softer,
    snapshot,
  }: Changes): void {
    more.forEach(({ seq }, i) => {
      if (seq !== last + 1 + i) throw new Error(`journal entry ${seq} does not follow ${last}`);
    });
    for (const row of rows)
      if (!decisions.has(row.id) && row.atMs > until) decisions.set(row.id, { ...row, feedback: [] });
    while (decisions.size > maxDecisions) decisions.delete(decisions.keys().next().value as string);
    for (const { id, call } of calls) if (decisions.get(id)?.call === undefined) change(id, { call });
    feedback.forEach(addFeedback);
    for (const { id, state, reward } of rewards) change(id, { rewardState: state, reward });
    entries.push(...structuredClone(more));
    last += more.length;
    if (saved !== undefined) {
      checkpoint = structuredClone(saved);
      entries = entries.filter(({ seq }) => seq > saved.seq);
    }
    if (softer !== undefined) soft = structuredClone(softer);
    if (snapshot !== undefined) keepSnapshot(snapshot);
  }

  const newestFirst = (): StoredDecision[] =>
    [...decisions.values()].sort((a, b) => b.atMs - a.atMs || (a.id < b.id ? 1 : -1));

  return {
    kind: 'memory',
    load: async (sinceMs) => ({
      checkpoint,
      entries: [...entries],
      soft,
      requests: newestFirst()
        .reverse()
        .filter(({ atMs, request }) => request !== undefined && atMs >= sinceMs),
    }),
    commit: async (changes) => commit(changes),
    find: async (ids) =>
      new Map(ids.flatMap((id) => (decisions.has(id) ? [[id, decisions.get(id) as StoredDecision]] : []))),
    recent: async ({ limit, tenant }) =>
      newestFirst()
        .filter((one) => tenant === undefined || one.tenant === tenant)
        .slice(0, limit),
    due: async (nowMs, limit) =>
      newestFirst()
        .reverse()
        .filter(({ rewardState, expiresAtMs }) => rewardState === 'pending' && expiresAtMs <= nowMs)
        .slice(0, limit),
    rated: async ({ limit, tenant, loggedBy }) =>
      newestFirst()
        .filter(
          (one) =>
            one.reward !== undefined &&
            one.decision.evaluated &&
            (tenant === undefined || one.tenant === tenant) &&
            (loggedBy === undefined || one.decision.policy_version === loggedBy),
        )
        .slice(0, limit)
        .map(({ tenant: of, decision, reward }) => ({ tenant: of, decision, reward: reward as number })),
    feedbackRates: async () => {
      const rates = new Map<string, { model: string; decisions: number; rated: number }>();
      for (const { decision, rewardState } of decisions.values()) {
        if (!decision.evaluated || rewardState === 'pending') continue;
        const rate = rates.get(decision.chosen) ?? { model: decision.chosen, decisions: 0, rated: 0 };
        rates.set(decision.chosen, rate);
        rate.decisions += 1;
        if (rewardState === 'rewarded') rate.rated += 1;
      }
      return [...rates.values()];
    },
    snapshot: async (id) => {
      const slim = snapshots.get(id);
      return slim && wholeSnapshot(slim, scorers);
    },
    measure: async (countUpTo) => {
      const newest = newestFirst();
      return {
        decisions: { rows: Math.min(countUpTo, newest.length), oldestMs: newest.at(-1)?.atMs, bytes: undefined },
        journal: { rows: entries.length, oldestMs: entries[0]?.atMs, bytes: undefined },
      };
    },
    pruneDecisions: async ({ beforeMs, nowMs, limit }) => {
      const old = newestFirst()
        .reverse()
        .filter(
          ({ atMs, expiresAtMs, rewardState }) => atMs < beforeMs && expiresAtMs <= nowMs && rewardState !== 'pending',
        )
        .slice(0, limit);
      for (const { id, atMs } of old) {
        decisions.delete(id);
        until = Math.max(until, atMs);
      }
      return old.length;
    },
    // Entries before the checkpoint are gone already.
    pruneJournal: async () => 0,
    close: async () => undefined,
  };
}
