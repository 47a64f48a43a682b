import type { Clock } from '@sluice/contracts';
import type { Metrics } from '@sluice/service-kit';

const INSERT_BUCKETS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000];
const BATCH_BUCKETS = [1, 10, 50, 100, 200, 500, 1_000, 2_000];
const LAG_BUCKETS_MS = [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 3_600_000, 86_400_000];

/** One committed transaction of the writer. */
export interface CommittedBatch {
  readonly events: number;
  readonly inserted: number;
  readonly rollupRows: number;
  readonly durationMs: number;
  /** When the rows that were added happened, RFC 3339. */
  readonly occurredAt: readonly string[];
}

export interface LedgerMetrics {
  committed(batch: CommittedBatch): void;
  failed(): void;
  rebuiltDay(durationMs: number): void;
}

/** What the ledger exposes on the control plane's private port. */
export function createLedgerMetrics(metrics: Metrics, clock: Pick<Clock, 'now'>): LedgerMetrics {
  const rows = metrics.counter('sluice_ledger_rows_total', 'Rows added to the ledger.');
  const duplicates = metrics.counter('sluice_ledger_duplicates_total', 'Events that the ledger held already.');
  const failures = metrics.counter('sluice_ledger_failed_inserts_total', 'Transactions of the writer that failed.');
  const insert = metrics.histogram(
    'sluice_ledger_insert_ms',
    'Duration of a transaction of the writer, milliseconds.',
    [],
    INSERT_BUCKETS_MS,
  );
  const batch = metrics.histogram(
    'sluice_ledger_batch_events',
    'Events of one transaction of the writer.',
    [],
    BATCH_BUCKETS,
  );
  const lag = metrics.histogram(
    'sluice_ledger_lag_ms',
    'From the end of a call to its row, milliseconds.',
    [],
    LAG_BUCKETS_MS,
  );
  const rollupRows = metrics.counter('sluice_ledger_rollup_writes_total', 'Rows of the rollups that were added to.');
  const rebuilt = metrics.histogram(
    'sluice_ledger_rollup_rebuild_ms',
    'Duration of making the rollups of one day anew, milliseconds.',
    [],
    INSERT_BUCKETS_MS,
  );
  return {
    committed: ({ events, inserted, rollupRows: touched, durationMs, occurredAt }) => {
      rows.inc(inserted);
      duplicates.inc(events - inserted);
      rollupRows.inc(touched);
      insert.observe(durationMs);
      batch.observe(events);
      const now = clock.now();
      for (const at of occurredAt) lag.observe(Math.max(0, now - Date.parse(at)));
    },
    failed: () => failures.inc(),
    rebuiltDay: (durationMs) => rebuilt.observe(durationMs),
  };
}
