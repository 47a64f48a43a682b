import type { LimitRefusal } from '@sluice/contracts';
import { meterUnits, quotaRefusal } from './admission.ts';
import type { TierLevel } from './tier-level.ts';
import { average, type WindowLoan } from './window-loan.ts';

/** True when every level has enough that is this gateway's own to spend. */
export function fitsLocally(levels: readonly TierLevel[], input: number, output: number, cost: number): boolean {
  const tokens = input + output;
  for (const level of levels) {
    if (level.requests !== undefined && level.requestsFree < 1) return false;
    // A call larger than the local share may have all of it, and leaves the rest as debt.
    if (
      tokens > 0 &&
      level.tokens !== undefined &&
      level.tokensFree < tokens &&
      !(level.share && level.tokensFree >= level.shares.tokens)
    )
      return false;
    if (level.slotsFree < 1 && level.bulkhead.maxInFlight !== Infinity) return false;
  }
  return quotasFit(levels, input, output, cost);
}

/** True when one request may be taken of every level's share. */
export function requestFits(levels: readonly TierLevel[]): boolean {
  return levels.every(({ requests, requestsFree }) => requests === undefined || requestsFree >= 1);
}

/** True when every hard window has that much which is this gateway's own. */
export function quotasFit(levels: readonly TierLevel[], input: number, output: number, cost: number): boolean {
  for (const { windows } of levels) {
    for (const { threshold, counter, loan, meter } of windows) {
      if (threshold === Infinity) continue;
      if (counter.used >= threshold || (loan as WindowLoan).free < meterUnits(meter, input, output, cost)) return false;
    }
  }
  return true;
}

/** Takes what `fitsLocally` found. True when so little is left somewhere that more should be asked for. */
export function takeLocally(
  levels: readonly TierLevel[],
  input: number,
  output: number,
  cost: number,
  monotonicMs: number,
): boolean {
  const tokens = input + output;
  let low = false;
  for (const level of levels) {
    level.inFlight++;
    level.bulkhead.inFlight++;
    level.slotsFree--;
    level.usedAtMs = monotonicMs;
    level.dirty = true;
    level.typicalTokens = average(level.typicalTokens, tokens);
    if (level.requests !== undefined) {
      level.requestsFree--;
      level.requests.take(1, monotonicMs);
      low ||= level.requestsFree < level.lowRequests;
    }
    if (level.tokens !== undefined) {
      level.tokensFree -= tokens;
      level.tokens.take(tokens, monotonicMs);
      low ||= level.tokensFree < level.lowTokens;
    }
    for (const { loan: given, counter, meter } of level.windows) {
      const loan = given as WindowLoan;
      const units = meterUnits(meter, input, output, cost);
      loan.free -= units;
      loan.out += units;
      loan.typical = average(loan.typical, units);
      counter.reserved += units;
      low ||= loan.free < loan.low;
    }
  }
  return low;
}

/** Why the local share does not admit; the authority cannot be asked. In the order quota, bulkhead, rate. */
export function shareRefusal(
  levels: readonly TierLevel[],
  input: number,
  output: number,
  cost: number,
  nowMs: number,
): LimitRefusal | undefined {
  const byQuota = shareQuotaRefusal(levels, input, output, cost, nowMs);
  if (byQuota !== undefined) return byQuota;
  for (const { level, slotsFree, bulkhead } of levels) {
    if (slotsFree >= 1 || bulkhead.maxInFlight === Infinity) continue;
    return {
      kind: 'shed',
      level,
      limit: 'in_flight',
      unit: 'requests',
      limitValue: bulkhead.maxInFlight,
      used: bulkhead.inFlight,
      retryAfterMs: bulkhead.retryAfterMs(),
    };
  }
  return shareRateRefusal(levels, input + output);
}

/** The hard window of which this gateway's share is spent, with the longest wait. */
export function shareQuotaRefusal(
  levels: readonly TierLevel[],
  input: number,
  output: number,
  cost: number,
  nowMs: number,
): LimitRefusal | undefined {
  let worst: LimitRefusal | undefined;
  for (const { windows } of levels) {
    for (const window of windows) {
      const units = meterUnits(window.meter, input, output, cost);
      if (
        window.threshold === Infinity ||
        (window.counter.used < window.threshold && (window.loan as WindowLoan).free >= units)
      )
        continue;
      const refusal = quotaRefusal(window, units, nowMs);
      if (worst === undefined || refusal.retryAfterMs > worst.retryAfterMs) worst = refusal;
    }
  }
  return worst;
}

/** The bucket of the local share that makes a call wait longest. */
export function shareRateRefusal(levels: readonly TierLevel[], tokens: number): LimitRefusal | undefined {
  let worst: LimitRefusal | undefined;
  for (const level of levels) {
    const { shares } = level;
    const note = (
      limit: 'requests' | 'tokens',
      need: number,
      free: number,
      size: number,
      ratePerMs: number,
      most: number,
      limitValue: number,
    ): void => {
      const enough = Math.min(need, size);
      if (need === 0 || free >= enough) return;
      const retryAfterMs = need > most ? Infinity : Math.max(1, Math.ceil((enough - free) / ratePerMs));
      if (worst === undefined || retryAfterMs > worst.retryAfterMs) {
        worst = {
          kind: 'throttled',
          level: level.level,
          limit,
          unit: limit,
          limitValue,
          used: Math.ceil(size - free),
          retryAfterMs,
        };
      }
    };
    if (level.requests !== undefined)
      note(
        'requests',
        1,
        level.requestsFree,
        shares.requests,
        shares.requestsPerMs,
        level.requests.capacity,
        level.requests.capacity,
      );
    if (level.tokens !== undefined)
      note(
        'tokens',
        tokens,
        level.tokensFree,
        shares.tokens,
        shares.tokensPerMs,
        level.tokens.capacity,
        level.tokensPerMinute,
      );
  }
  return worst;
}
