import { type LimitRefusal, type QuotaMeter, type Reservation, type TokenUsage, totalTokens } from '@sluice/contracts';
import type { LevelState, QuotaState } from './level-state.ts';

/** How long a caller waits when only reservations of running calls stand in the way; any of them may come back. */
const RESERVED_RETRY_MS = 1_000;

/** Units of a meter in these figures. */
export function meterUnits(meter: QuotaMeter, inputTokens: number, outputTokens: number, costNanoUsd: number): number {
  switch (meter) {
    case 'total_tokens':
      return inputTokens + outputTokens;
    case 'input_tokens':
      return inputTokens;
    case 'output_tokens':
      return outputTokens;
    case 'cost_nanousd':
      return costNanoUsd;
  }
}

/** What a call that was sent takes of buckets of tokens: what it used, and at least what its bytes count. */
export function rateTokens(usage: TokenUsage, { leastTokens = 0 }: Reservation): number {
  return Math.max(totalTokens(usage), leastTokens);
}

/**
 * The refusal of the hard window with the longest wait, or `undefined` when all of them have room. A window at its
 * limit refuses also what needs nothing of it.
 */
export function refuseByQuota(
  levels: readonly LevelState[],
  input: number,
  output: number,
  cost: number,
  nowMs: number,
): LimitRefusal | undefined {
  let worst: LimitRefusal | undefined;
  for (const { windows } of levels) {
    for (const window of windows) {
      window.counter.roll(nowMs);
      const want = meterUnits(window.meter, input, output, cost);
      const { used, reserved } = window.counter;
      if (used + reserved + want <= window.threshold && used < window.threshold) continue;
      const refusal = quotaRefusal(window, want, nowMs);
      if (worst === undefined || refusal.retryAfterMs > worst.retryAfterMs) worst = refusal;
    }
  }
  return worst;
}

/** The refusal of one window, for a call that wants so many units of it. */
export function quotaRefusal(window: QuotaState, want: number, nowMs: number): LimitRefusal {
  const { counter, threshold, definition } = window;
  const onlyReservations = want <= threshold && counter.used + want <= threshold && counter.used < threshold;
  const waitMs = counter.freeAt(want, threshold, nowMs) - nowMs;
  return {
    kind: 'quota',
    level: window.level,
    limit: definition.id,
    unit: window.meter === 'cost_nanousd' ? 'nanodollars' : 'tokens',
    limitValue: definition.limit,
    used: counter.used + counter.reserved,
    retryAfterMs: onlyReservations ? Math.min(RESERVED_RETRY_MS, waitMs) : Math.max(1, Math.ceil(waitMs)),
  };
}

/** The first level whose bulkhead is full, or whose queue is. */
export function refuseByBulkhead(
  levels: readonly LevelState[],
  what: 'in_flight' | 'queued',
): LimitRefusal | undefined {
  for (const { level, bulkhead } of levels) {
    const room = what === 'in_flight' ? bulkhead.hasRoom : bulkhead.hasQueueRoom;
    if (room) continue;
    return {
      kind: 'shed',
      level,
      limit: what,
      unit: 'requests',
      limitValue: what === 'in_flight' ? bulkhead.maxInFlight : bulkhead.maxQueued,
      used: what === 'in_flight' ? bulkhead.inFlight : bulkhead.queued,
      retryAfterMs: bulkhead.retryAfterMs(),
    };
  }
  return undefined;
}

/** The refusal of the bucket with the longest wait: who waits that long passes all of them. */
export function refuseByRate(
  levels: readonly LevelState[],
  tokens: number,
  monotonicMs: number,
): LimitRefusal | undefined {
  let worstMs = 0;
  let worst: LevelState | undefined;
  let limit: 'requests' | 'tokens' = 'requests';
  for (const state of levels) {
    if (state.requests !== undefined && !state.requests.has(1, monotonicMs)) {
      const waitMs = state.requests.waitMs(1, monotonicMs);
      if (waitMs > worstMs) [worstMs, worst, limit] = [waitMs, state, 'requests'];
    }
    if (state.tokens !== undefined && tokens > 0 && !state.tokens.has(tokens, monotonicMs)) {
      const waitMs = state.tokens.waitMs(tokens, monotonicMs);
      if (waitMs > worstMs) [worstMs, worst, limit] = [waitMs, state, 'tokens'];
    }
  }
  if (worst === undefined) return undefined;
  const capacity = worst[limit]?.capacity ?? 0;
  return {
    kind: 'throttled',
    level: worst.level,
    limit,
    unit: limit,
    limitValue: limit === 'tokens' ? worst.tokensPerMinute : capacity,
    used: Math.ceil(capacity - (worst[limit]?.level(monotonicMs) ?? 0)),
    retryAfterMs: worstMs,
  };
}
