import type { ConsumedBatch } from '@sluice/events';
import { boundedLabel, type Metrics } from '@sluice/service-kit';
import type { OutboxLoad } from '../audit/create-outbox-relay.ts';
import type { ReadQueue } from '../state/queue-admin.ts';

/** What consumers, queues and redrives count; labels are declared names, the first 200 of them, then `other`. */
export interface SpineMetrics {
  batch(consumer: string, batch: ConsumedBatch): void;
  redriven(queue: string, result: { readonly moved: number; readonly refused: number }): void;
  depths(queues: readonly ReadQueue[]): void;
  outbox(load: OutboxLoad): void;
  /** Records that are put aside now. */
  putAside(records: number): void;
  pruned(table: string, rows: number): void;
}

const BATCH_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25];

export function createSpineMetrics(metrics: Metrics): SpineMetrics {
  const queueLabel = boundedLabel();
  const received = metrics.counter('sluice_consumer_received_total', 'Deliveries that a consumer received', [
    'consumer',
  ]);
  const handled = metrics.counter('sluice_consumer_handled_total', 'Deliveries that a consumer handled', ['consumer']);
  const failed = metrics.counter(
    'sluice_consumer_failed_total',
    'Deliveries that failed; one message may fail several times',
    ['consumer'],
  );
  const deadLettered = metrics.counter(
    'sluice_consumer_dead_lettered_total',
    'Messages that failed at their last receive',
    ['consumer'],
  );
  const seconds = metrics.histogram(
    'sluice_consumer_batch_seconds',
    'From the receive of a batch until it is settled',
    ['consumer'],
    BATCH_SECONDS,
  );
  const waiting = metrics.gauge('sluice_queue_depth', 'Messages of a queue, those that are being handled included', [
    'queue',
  ]);
  const dead = metrics.gauge('sluice_dlq_depth', 'Dead letters of a queue', ['queue']);
  const outboxRows = metrics.gauge(
    'sluice_audit_outbox_rows',
    'Audit events that the audit consumer has not stored yet',
  );
  const outboxAge = metrics.gauge('sluice_audit_outbox_oldest_seconds', 'Age of the oldest of them');
  const putAside = metrics.gauge('sluice_put_aside_records', 'Records that the ledger or the spine never takes');
  const pruned = metrics.counter('sluice_control_plane_pruned_total', 'Rows deleted for their age', ['table']);
  const moved = metrics.counter('sluice_dlq_redriven_total', 'Dead letters that were moved back to their queue', [
    'queue',
  ]);
  const refused = metrics.counter(
    'sluice_dlq_redrive_refused_total',
    'Dead letters that their queue did not take again',
    ['queue'],
  );
  return {
    batch: (consumer, batch) => {
      received.inc({ consumer }, batch.received);
      handled.inc({ consumer }, batch.received - batch.failed);
      failed.inc({ consumer }, batch.failed);
      deadLettered.inc({ consumer }, batch.deadLettered);
      seconds.observe({ consumer }, batch.durationMs / 1000);
    },
    redriven: (queue, result) => {
      moved.inc({ queue: queueLabel(queue) }, result.moved);
      refused.inc({ queue: queueLabel(queue) }, result.refused);
    },
    putAside: (records) => putAside.set(records),
    pruned: (table, rows) => pruned.inc({ table }, rows),
    outbox: ({ rows, oldestAgeMs }) => {
      outboxRows.set(rows);
      outboxAge.set(oldestAgeMs / 1000);
    },
    depths: (queues) => {
      // Export queues come and go: one that was removed leaves no figure behind, and those beyond the label's bound
      // are summed.
      waiting.reset();
      dead.reset();
      for (const { name, waiting: own, in_flight, dlq_depth } of queues) {
        const queue = queueLabel(name);
        waiting.inc({ queue }, own + in_flight);
        dead.inc({ queue }, dlq_depth);
      }
    },
  };
}
