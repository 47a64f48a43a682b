import { countBy, percentile } from '../load/distribution.ts';
import type { CallResult } from '../load/send-call.ts';

export interface TenantRun {
  readonly tenant: string;
  readonly results: readonly CallResult[];
}

/**
 * How much the p99 of the queue time may grow and still count as unchanged: timer and scheduling noise of a busy
 * machine.
 */
export const QUEUE_TOLERANCE_MS = 5;

const before = (results: readonly CallResult[], floodStartedMs: number) =>
  results.filter((result) => result.sentAtMs < floodStartedMs);
const during = (results: readonly CallResult[], floodStartedMs: number) =>
  results.filter((result) => result.sentAtMs >= floodStartedMs);
const queueTimes = (results: readonly CallResult[]) =>
  results.flatMap((result) => (result.queueMs === undefined ? [] : [result.queueMs]));
const show = (value: number | undefined) =>
  value === undefined ? '-' : value < 10 ? value.toFixed(1) : Math.round(value).toString();

/** The tenants side by side, one row each under a head. */
export function summarise(runs: readonly TenantRun[], floodStartedMs: number): string[][] {
  const head = [
    'tenant',
    'calls',
    'ok',
    'throttled',
    'shed',
    'other',
    'p50 ms',
    'p99 ms',
    'queue ms before',
    'queue ms during',
  ];
  return [head, ...runs.map((run) => row(run, floodStartedMs))];
}

function row({ tenant, results }: TenantRun, floodStartedMs: number): string[] {
  const counts = countBy(results, (result) => result.outcome);
  const { ok = 0, throttled = 0, shed = 0 } = counts;
  const answered = results.filter((result) => result.outcome === 'ok').map((result) => result.totalMs);
  const queue = (part: readonly CallResult[]) => {
    const times = queueTimes(part);
    return times.length === 0
      ? '-'
      : [percentile(times, 50), percentile(times, 99), Math.max(...times)].map(show).join(' / ');
  };
  return [
    tenant,
    ...[results.length, ok, throttled, shed, results.length - ok - throttled - shed].map(String),
    show(percentile(answered, 50)),
    show(percentile(answered, 99)),
    queue(before(results, floodStartedMs)),
    queue(during(results, floodStartedMs)),
  ];
}

/** Sentences about what a steady tenant noticed of the flood; empty when nothing. */
export function judgeNeighbour(tenant: string, results: readonly CallResult[], floodStartedMs: number): string[] {
  const complaints: string[] = [];
  const counts = countBy(results, (result) => result.outcome);
  for (const [outcome, count] of Object.entries(counts)) {
    if (outcome !== 'ok') complaints.push(`${tenant}: ${count} of ${results.length} calls ended as ${outcome}`);
  }
  const calm = percentile(queueTimes(before(results, floodStartedMs)), 99);
  const flooded = percentile(queueTimes(during(results, floodStartedMs)), 99);
  if (calm === undefined || flooded === undefined) {
    complaints.push(`${tenant}: the gateway did not tell its queue time, so nothing is proven`);
  } else if (flooded > calm + QUEUE_TOLERANCE_MS) {
    complaints.push(
      `${tenant}: queue time p99 went from ${show(calm)} to ${show(flooded)} ms, more than the ${QUEUE_TOLERANCE_MS} ms of noise`,
    );
  }
  return complaints;
}
