import type { REWARD_STATES, RouteDecision, RouterSnapshot } from '@sluice/contracts';
import type { JournalEntry } from '../state/journal.ts';
import type { RouterStateSaved } from '../state/router-state.ts';

export type RewardState = (typeof REWARD_STATES)[number];

/** What became of the call that followed a decision. */
export interface CallOutcome {
  readonly outcome: string;
  readonly executedModel?: string | undefined;
  readonly costNanoUsd: number;
  readonly billedNanoUsd: number;
  readonly outputTokens: number;
  readonly totalMs: number;
}

export interface FeedbackRow {
  readonly decisionId: string;
  readonly metric: string;
  readonly value: number;
  readonly atMs: number;
}

export interface DecisionRow {
  readonly id: string;
  readonly atMs: number;
  readonly tenant: string;
  readonly workspace: string;
  readonly source: 'router' | 'gateway';
  readonly decision: RouteDecision;
  readonly expiresAtMs: number;
  readonly rewardState: RewardState;
  readonly call?: CallOutcome | undefined;
  /** Of an idempotent request: its id, and a digest of what it asked. */
  readonly request?: { readonly id: string; readonly digest: string } | undefined;
}

export interface StoredDecision extends DecisionRow {
  readonly reward?: number | undefined;
  readonly feedback: readonly FeedbackRow[];
}

/** Everything that is to be durable together. */
export interface Changes {
  /**
   * A decision that is there already stays as it is; one that is older than what was deleted for its age is left
   * out.
   */
  readonly decisions?: readonly DecisionRow[];
  /** Sets the outcome of decisions that have none. */
  readonly calls?: readonly { readonly id: string; readonly call: CallOutcome }[];
  readonly feedback?: readonly FeedbackRow[];
  readonly rewards?: readonly {
    readonly id: string;
    readonly state: RewardState;
    readonly reward?: number | undefined;
  }[];
  readonly entries?: readonly JournalEntry[];
  readonly checkpoint?: RouterStateSaved;
  /** Signals and averages: worth keeping, not worth a journal. */
  readonly soft?: unknown;
  readonly snapshot?: RouterSnapshot;
}

export interface LoadedState {
  readonly checkpoint: RouterStateSaved | undefined;
  /** After the checkpoint, in order. */
  readonly entries: readonly JournalEntry[];
  readonly soft: unknown;
  /** Idempotent requests of the last while, oldest first. */
  readonly requests: readonly StoredDecision[];
}

export interface RatedDecision {
  readonly tenant: string;
  readonly decision: RouteDecision;
  readonly reward: number;
}

export interface FeedbackRateRow {
  readonly model: string;
  /** Evaluated decisions whose time to be rated is over, or that are rated. */
  readonly decisions: number;
  readonly rated: number;
}

/** How much of a table there is. */
export interface TableFigures {
  readonly rows: number;
  /** Undefined when it is empty. */
  readonly oldestMs: number | undefined;
  /** With its indexes; undefined where that is not known. */
  readonly bytes: number | undefined;
}

export interface StoreFigures {
  readonly decisions: TableFigures;
  readonly journal: TableFigures;
}

/**
 * What of the decisions may go: those of before `beforeMs` whose time to be rated is over and that have been
 * settled, the oldest first.
 */
export interface PruneDecisions {
  readonly beforeMs: number;
  readonly nowMs: number;
  readonly limit: number;
}

/**
 * What of the journal may go: entries of before `beforeMs`, and all but the newest `keepRows`; never what a start
 * from the older checkpoint reads.
 */
export interface PruneJournal {
  readonly beforeMs: number;
  readonly keepRows: number;
  readonly limit: number;
}

/**
 * What the router keeps. One process writes: it gives journal entries their numbers, and a second writer fails on them.
 * Every method rejects when the store cannot be reached.
 */
export interface RouterStore {
  readonly kind: 'memory' | 'postgres';
  load(requestsSinceMs: number): Promise<LoadedState>;
  /** All or nothing. */
  commit(changes: Changes): Promise<void>;
  find(ids: readonly string[]): Promise<Map<string, StoredDecision>>;
  recent(options: { readonly limit: number; readonly tenant?: string | undefined }): Promise<StoredDecision[]>;
  /** Pending decisions whose time to be rated is over, oldest first. */
  due(nowMs: number, limit: number): Promise<StoredDecision[]>;
  /** Rewarded decisions that are part of evaluation, newest first. */
  rated(options: {
    readonly limit: number;
    readonly tenant?: string | undefined;
    readonly loggedBy?: string | undefined;
  }): Promise<RatedDecision[]>;
  feedbackRates(): Promise<FeedbackRateRow[]>;
  /** Undefined for one that is not kept any more. */
  snapshot(id: string): Promise<unknown>;
  /** @param countUpTo decisions are counted so far and no further: counting takes as long as there are rows. */
  measure(countUpTo: number): Promise<StoreFigures>;
  /**
   * Deletes decisions with their feedback. What is older than the newest one that was ever deleted is not taken
   * again: a usage event that comes a second time would be learned a second time.
   *
   * @returns how many went.
   */
  pruneDecisions(rule: PruneDecisions): Promise<number>;
  pruneJournal(rule: PruneJournal): Promise<number>;
  close(): Promise<void>;
}

/** Snapshots that are kept to verify predictions by. */
export const KEPT_SNAPSHOTS = 500;
