import type { CallSettled, OutboxStats, ErrorCode, Outcome, Operation } from '@sluice/contracts';
import type { MeasuredJob } from '../bodies/body-pool.ts';
import { boundedLabel, type Metrics } from '@sluice/service-kit';

/** Tenants that stand for themselves in labels; later ones are `other`. */
const MAX_TENANTS = 200;
const OVERHEAD_BUCKETS_US = [100, 200, 300, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 200_000];
const QUEUE_BUCKETS_MS = [0, 1, 5, 10, 50, 100, 500, 1_000, 5_000, 10_000, 30_000];
const TTFB_BUCKETS_MS = [10, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000];

/** One call that ended, as metrics see it. */
export interface MeasuredCall {
  readonly tenant: string | undefined;
  readonly operation: Operation;
  readonly outcome: Outcome;
  /** Absent when no provider was called. */
  readonly latency: CallSettled['latency'] | undefined;
}

export interface GatewayMetrics {
  record(call: MeasuredCall): void;
  /** A request that was refused before it was a call: draining, no configuration, malformed. */
  recordEarlyRefusal(code: ErrorCode): void;
  /** A connection beyond what its network may have. */
  recordRefusedConnection(): void;
  /** Work on a large body or answer that ended. */
  recordBodyJob(job: MeasuredJob): void;
  /** A worker for large bodies was lost, or stopped at its limit. */
  recordLostWorker(): void;
}

/** What is read when the metrics are. */
export interface GatewayGauges {
  inFlight(): number;
  configAgeMs(): number;
  limitsExact(): boolean;
  outbox(): OutboxStats;
  /** Events other than usage that were dropped. */
  droppedEvents(): number;
}

/**
 * What the gateway exposes on its private port. Labels are bounded: operations and outcomes by their lists, tenants
 * by count.
 */
export function createGatewayMetrics(metrics: Metrics, state: GatewayGauges): GatewayMetrics {
  const tenantLabel = boundedLabel(MAX_TENANTS);
  const calls = metrics.counter('sluice_gateway_calls_total', 'Calls that ended, by outcome.', [
    'operation',
    'outcome',
    'tenant',
  ]);
  const overhead = metrics.histogram(
    'sluice_gateway_overhead_us',
    'Our own time up to the first upstream byte, microseconds.',
    ['operation'],
    OVERHEAD_BUCKETS_US,
  );
  const queue = metrics.histogram(
    'sluice_gateway_queue_ms',
    'Wait for provider capacity, milliseconds.',
    ['operation'],
    QUEUE_BUCKETS_MS,
  );
  const ttfb = metrics.histogram(
    'sluice_gateway_ttfb_ms',
    'Time to the first byte of an answer, milliseconds.',
    ['operation'],
    TTFB_BUCKETS_MS,
  );
  const connections = metrics.counter(
    'sluice_gateway_connections_refused_total',
    'Connections cut because their network had as many as it may.',
    [],
  );
  const early = metrics.counter(
    'sluice_gateway_early_refusals_total',
    'Requests that were refused before they were calls, by code.',
    ['code'],
  );
  const bodyWait = metrics.histogram(
    'sluice_gateway_body_wait_ms',
    'Wait of large bodies and answers for a worker, milliseconds.',
    ['job', 'end'],
    QUEUE_BUCKETS_MS,
  );
  const bodyWork = metrics.histogram(
    'sluice_gateway_body_work_ms',
    'Time that a worker took for a large body or answer, milliseconds.',
    ['job'],
    QUEUE_BUCKETS_MS,
  );
  const lostWorkers = metrics.counter(
    'sluice_gateway_body_workers_lost_total',
    'Workers for large bodies that were lost, or stopped at their limit, and replaced.',
    [],
  );
  const inFlight = metrics.gauge('sluice_gateway_in_flight', 'Calls that run now.');
  const age = metrics.gauge(
    'sluice_gateway_config_age_ms',
    'Since the configuration was last known to be current, milliseconds.',
  );
  const exact = metrics.gauge(
    'sluice_gateway_limits_exact',
    '1 while limits are exact, 0 while the local share of a lost limit store decides.',
  );
  Object.assign(exact, { collect: () => exact.set(state.limitsExact() ? 1 : 0) });
  gaugesOfOutbox(metrics, state);
  Object.assign(inFlight, { collect: () => inFlight.set(state.inFlight()) });
  Object.assign(age, { collect: () => age.set(state.configAgeMs()) });

  return {
    recordEarlyRefusal: (code) => early.inc({ code }),
    recordRefusedConnection: () => connections.inc(),
    recordBodyJob({ job, end, waitMs, workMs }) {
      bodyWait.observe({ job, end }, waitMs);
      if (workMs > 0) bodyWork.observe({ job }, workMs);
    },
    recordLostWorker: () => lostWorkers.inc(),
    record({ tenant, operation, outcome, latency }) {
      calls.inc({ operation, outcome, tenant: tenant === undefined ? 'none' : tenantLabel(tenant) });
      if (latency === undefined) return;
      overhead.observe({ operation }, latency.overhead_us);
      queue.observe({ operation }, latency.queue_ms);
      if (latency.ttfb_ms !== undefined) ttfb.observe({ operation }, latency.ttfb_ms);
    },
  };
}

function gaugesOfOutbox(metrics: Metrics, state: GatewayGauges): void {
  const pending = metrics.gauge('sluice_gateway_outbox_pending', 'Records on disk that the ledger does not have.');
  const age = metrics.gauge('sluice_gateway_outbox_oldest_age_ms', 'Age of the oldest of them, milliseconds.');
  const bytes = metrics.gauge(
    'sluice_gateway_outbox_bytes',
    'Bytes that the outbox uses on disk, beside what is allocated ahead.',
  );
  const unmetered = metrics.gauge(
    'sluice_gateway_unmetered_calls',
    'Calls that were served without a record since the start, by setting.',
  );
  const dropped = metrics.gauge(
    'sluice_gateway_dropped_events',
    'Events other than usage that were dropped since the start.',
  );
  Object.assign(pending, { collect: () => pending.set(state.outbox().pending) });
  Object.assign(age, { collect: () => age.set(state.outbox().oldestAgeMs) });
  Object.assign(bytes, { collect: () => bytes.set(state.outbox().bytes) });
  Object.assign(unmetered, { collect: () => unmetered.set(state.outbox().unmeteredCalls) });
  Object.assign(dropped, { collect: () => dropped.set(state.droppedEvents()) });
}
