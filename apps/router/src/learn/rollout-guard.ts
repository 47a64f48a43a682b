import type { RolloutStage } from '@sluice/routing';

/** Upper bounds of latency buckets: each a fifth above the one before, from 1 ms to over an hour. */
const GROWTH = 1.2;
const BUCKETS = 90;

interface Counts {
  calls: number;
  errors: number;
  costNanoUsd: number;
  buckets: number[];
}

export interface HardLimit {
  readonly name: 'error_rate' | 'latency_p99_ms' | 'cost_per_request';
  readonly candidate: number;
  readonly control: number;
  readonly limit: number;
  /** Calls of the candidate. */
  readonly samples: number;
  readonly breached: boolean;
}

/** Calls before a limit is looked at. */
export const LEAST_CALLS = { error_rate: 50, latency_p99_ms: 200, cost_per_request: 100 } as const;

/**
 * Hard limits of a candidate beside the statistics: error rate, latency and cost per request, each against the
 * control of the same stage. Cost breaches upward only.
 */
export interface RolloutGuard {
  /** Starts anew for another rollout or stage. */
  enter(rolloutId: string, stage: RolloutStage): void;
  add(
    variant: 'control' | 'candidate',
    call: { readonly failed: boolean; readonly totalMs: number; readonly costNanoUsd: number },
  ): void;
  readonly limits: readonly HardLimit[];
}

export function createRolloutGuard(): RolloutGuard {
  let at = '';
  let counts = { control: empty(), candidate: empty() };

  return {
    enter: (rolloutId, stage) => {
      if (at === `${rolloutId}/${stage}`) return;
      at = `${rolloutId}/${stage}`;
      counts = { control: empty(), candidate: empty() };
    },
    add: (variant, { failed, totalMs, costNanoUsd }) => {
      const one = counts[variant];
      one.calls += 1;
      if (failed) one.errors += 1;
      one.costNanoUsd += costNanoUsd;
      const bucket = Math.min(BUCKETS - 1, Math.max(0, Math.ceil(Math.log(Math.max(1, totalMs)) / Math.log(GROWTH))));
      one.buckets[bucket] = (one.buckets[bucket] as number) + 1;
    },
    get limits() {
      const { control, candidate } = counts;
      const errors = { candidate: rate(candidate), control: rate(control) };
      // What chance alone gives so few calls is no breach.
      const chance = 3 * Math.sqrt(Math.max(errors.control, 0.01) / Math.max(1, candidate.calls));
      const latency = { candidate: p99(candidate), control: p99(control) };
      const cost = { candidate: mean(candidate), control: mean(control) };
      return [
        judge('error_rate', errors, errors.control + 0.02 + chance, candidate.calls, control.calls),
        judge('latency_p99_ms', latency, 2 * latency.control + 200, candidate.calls, control.calls),
        judge('cost_per_request', cost, 1.25 * cost.control, candidate.calls, control.calls),
      ];
    },
  };
}

function judge(
  name: HardLimit['name'],
  { candidate, control }: { candidate: number; control: number },
  limit: number,
  samples: number,
  controls: number,
): HardLimit {
  const least = LEAST_CALLS[name];
  return {
    name,
    candidate,
    control,
    limit,
    samples,
    breached: samples >= least && controls >= least && candidate > limit,
  };
}

const empty = (): Counts => ({ calls: 0, errors: 0, costNanoUsd: 0, buckets: new Array<number>(BUCKETS).fill(0) });
const rate = ({ errors, calls }: Counts): number => (calls === 0 ? 0 : errors / calls);
const mean = ({ costNanoUsd, calls }: Counts): number => (calls === 0 ? 0 : costNanoUsd / calls);

function p99({ buckets, calls }: Counts): number {
  let left = calls - Math.ceil(calls * 0.99);
  for (let i = buckets.length - 1; i >= 0; i -= 1) {
    left -= buckets[i] as number;
    if (left < 0) return GROWTH ** i;
  }
  return 0;
}
