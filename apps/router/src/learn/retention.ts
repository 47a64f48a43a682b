import type { Clock, StorageAnswer } from '@sluice/contracts';
import type { RouterState } from '../state/router-state.ts';
import type { RouterStore, StoreFigures } from '../store/router-store.ts';

/**
 * Rows that one statement deletes, and statements of one tick: 2,000 rows a second at most, and nobody waits for
 * long.
 */
const BATCH = 500;
const BATCHES = 4;
/** Counting a large table is not free: it is done now and then, and no further than a tenth beyond the bound. */
const MEASURE_MS = 5 * 60_000;
const COUNTED = 1.1;
const COUNTED_AT_LEAST = 1_000;
const DAY_MS = 86_400_000;

/** How long decisions and the journal are kept: whichever bound is reached first. */
export interface RetentionRule {
  readonly days: number;
  /** Of each of the two. */
  readonly rows: number;
}

export const RETENTION_DEFAULT: RetentionRule = { days: 90, rows: 1_000_000 };

/** Deletes what is older than it is kept, in small batches, the oldest first. */
export interface Retention {
  /** Some batches, if anything is due. Called each second. @throws what the store says when it is away. */
  tick(): Promise<void>;
  /** Undefined before the first measurement. */
  readonly figures: StoreFigures | undefined;
  readonly view: StorageAnswer;
}

export interface RetentionDeps {
  readonly store: Pick<RouterStore, 'measure' | 'pruneDecisions' | 'pruneJournal'>;
  readonly state: () => Pick<RouterState, 'running'> | undefined;
  readonly clock: Clock;
  readonly rule: RetentionRule;
  /** Nothing that may still be rated is deleted, whatever the rule says. */
  readonly rewardTimeoutMs: number;
  readonly onPruned?: (table: 'decisions' | 'journal', rows: number) => void;
}

export function createRetention({ store, state, clock, rule, rewardTimeoutMs, onPruned }: RetentionDeps): Retention {
  let figures: StoreFigures | undefined;
  let measuredAtMs = -Infinity;
  /** Whether the last look stopped for its budget. */
  let more = false;
  const gone = { decisions: 0, journal: 0 };
  /** Decisions beyond their bound, of those that were counted. */
  let surplus = 0;
  /** There are more than were counted. */
  let capped = false;
  /** Rows beyond their bound that have to stay, as of the last look. */
  let held = 0;

  /** Decisions of a running rollout stay, because its candidate is evaluated on them. */
  const neededSince = (): number => state()?.running?.state.createdAtMs ?? Infinity;

  function count(table: 'decisions' | 'journal', rows: number): void {
    if (rows === 0 || figures === undefined) return;
    gone[table] += rows;
    if (table === 'journal' || !capped)
      figures = { ...figures, [table]: { ...figures[table], rows: figures[table].rows - rows } };
    onPruned?.(table, rows);
  }

  /** In batches until the budget of this tick is spent, or nothing more may go. @returns whether more may be due. */
  async function pruneDecisions(): Promise<boolean> {
    const nowMs = clock.now();
    const latest = Math.min(neededSince(), nowMs - rewardTimeoutMs);
    for (let i = 0; i < BATCHES; i += 1) {
      const aged = await store.pruneDecisions({
        beforeMs: Math.min(latest, nowMs - rule.days * DAY_MS),
        nowMs,
        limit: BATCH,
      });
      const beyond = Math.min(BATCH - aged, surplus - aged);
      const dropped = beyond <= 0 ? 0 : await store.pruneDecisions({ beforeMs: latest, nowMs, limit: beyond });
      surplus -= aged + dropped;
      count('decisions', aged + dropped);
      held = Math.max(0, surplus);
      if (aged + dropped < BATCH) return capped && surplus <= 0;
    }
    return true;
  }

  async function pruneJournal(): Promise<boolean> {
    const beforeMs = clock.now() - rule.days * DAY_MS;
    for (let i = 0; i < BATCHES; i += 1) {
      const rows = await store.pruneJournal({ beforeMs, keepRows: rule.rows, limit: BATCH });
      count('journal', rows);
      if (rows < BATCH) return false;
    }
    return true;
  }

  return {
    tick: async () => {
      const due = figures === undefined || clock.now() - measuredAtMs >= MEASURE_MS;
      if (!due && !more) return;
      // When all that was counted beyond the bound is gone, there may be more.
      if (due || (capped && surplus <= 0)) {
        const cap = Math.max(Math.ceil(COUNTED * rule.rows), rule.rows + COUNTED_AT_LEAST);
        figures = await store.measure(cap);
        measuredAtMs = clock.now();
        capped = figures.decisions.rows >= cap;
        surplus = figures.decisions.rows - rule.rows;
      }
      const decisions = await pruneDecisions();
      more = (await pruneJournal()) || decisions;
    },
    get figures() {
      return figures;
    },
    get view() {
      const since = neededSince();
      const shown = (of: StoreFigures['decisions'] | undefined): StorageAnswer['decisions'] => ({
        ...(of === undefined ? {} : { rows: of.rows }),
        ...(of?.oldestMs === undefined ? {} : { oldest: iso(of.oldestMs) }),
        ...(of?.bytes === undefined ? {} : { bytes: of.bytes }),
      });
      return {
        ...(figures === undefined ? {} : { measured_at: iso(measuredAtMs) }),
        keep: { days: rule.days, rows: rule.rows },
        decisions: shown(figures?.decisions),
        journal: shown(figures?.journal),
        pruned: { ...gone },
        held,
        ...(since === Infinity ? {} : { kept_for_rollout_since: iso(since) }),
      };
    },
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();
