import type { BucketView, LimitsView, QuotaView } from '@sluice/contracts';
import type { LevelState } from './level-state.ts';
import type { TokenBucket } from './token-bucket.ts';

/** What these levels allow now: the bucket of each kind with least left, and every window. */
export function viewOf(levels: readonly LevelState[], nowMs: number, monotonicMs: number): LimitsView {
  const quotas: QuotaView[] = [];
  let requests: LevelState | undefined;
  let requestsLeft = Infinity;
  let tokens: LevelState | undefined;
  let tokensLeft = Infinity;
  let inFlight = 0;
  let queued = 0;
  for (const state of levels) {
    const ofRequests = state.requests?.remaining(monotonicMs) ?? Infinity;
    if (ofRequests < requestsLeft) {
      requestsLeft = ofRequests;
      requests = state;
    }
    const ofTokens = state.tokens?.remaining(monotonicMs) ?? Infinity;
    if (ofTokens < tokensLeft) {
      tokensLeft = ofTokens;
      tokens = state;
    }
    if (state.level === 'workspace') {
      inFlight = state.bulkhead.inFlight;
      queued = state.bulkhead.queued;
    }
    for (const { definition, counter, level, id, meter } of state.windows) {
      counter.roll(nowMs);
      const used = counter.used + counter.reserved;
      quotas.push({
        level,
        id,
        window: definition.id,
        meter,
        limit: definition.limit,
        used,
        mode: definition.mode,
        resetAtMs: counter.resetAt(),
        alertAtPercent: definition.alertAtPercent,
      });
    }
  }
  return {
    requests:
      requests?.requests && bucketView(requests.requests, requests.requests.capacity, requestsLeft, monotonicMs),
    tokens: tokens?.tokens && bucketView(tokens.tokens, tokens.tokensPerMinute, tokensLeft, monotonicMs),
    quotas,
    inFlight,
    queued,
  };
}

function bucketView(bucket: TokenBucket, limit: number, remaining: number, monotonicMs: number): BucketView {
  return { limit, remaining, resetMs: bucket.resetMs(monotonicMs) };
}
