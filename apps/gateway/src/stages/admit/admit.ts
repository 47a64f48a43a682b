import type {
  AdmitResult,
  LimitRefusal,
  Limits,
  LimitStore,
  Price,
  Refusal,
  Reservation,
  UsageOutbox,
} from '@sluice/contracts';
import type { Call, Resolved } from '../../call.ts';
import type { CompiledKey } from '../../compiled-config.ts';
import type { Stage } from '../../stage.ts';
import { shapeOf } from '../../metering/call-shape.ts';
import type { Estimator } from '../../metering/estimator.ts';
import { billedPriceOf, dearestCost } from '../../metering/pricing.ts';
import { refusalOf } from '../../refusals/limit-refusal.ts';
import { reserveForAny } from './reserve-for-any.ts';
import type { RetrySlots } from './retry-slots.ts';

export interface AdmitDeps {
  readonly limits: LimitStore;
  readonly estimator: Estimator;
  readonly outbox: Pick<UsageOutbox, 'accepting' | 'shareFull'>;
  readonly retrySlots: RetrySlots;
}

/**
 * Takes what the call is expected to need, in one atomic step: quota, bulkhead slot, rate. Nothing is taken when one of
 * them refuses, nor when the call could not be metered.
 */
export function createAdmitStage({ limits, estimator, outbox, retrySlots }: AdmitDeps): Stage {
  return {
    name: 'admit',
    run(call) {
      const key = call.key as CompiledKey;
      const tenantId = key.workspace.tenant.id;
      if (!outbox.accepting(tenantId))
        return { code: outbox.shareFull(tenantId) ? 'metering_share' : 'metering_full', retryAfterMs: 5_000 };
      const resolved = call.resolved as Resolved;
      const shape = shapeOf(key, resolved);
      const expected =
        resolved.choice?.kind === 'open'
          ? reserveForAny(estimator, shape, resolved.choice, resolved.askedUse)
          : reserveForFirst(estimator, key, resolved);
      const reservation: Reservation = { ...expected, leastTokens: shape.floorTokens };
      call.reservation = reservation;
      const result = limits.admit({ leaseId: call.id, scope: key.scope, reservation });
      return result instanceof Promise
        ? result.then((later) => take(call, later, retrySlots))
        : take(call, result, retrySlots);
    },
  };
}

function reserveForFirst(estimator: Estimator, key: CompiledKey, resolved: Resolved): Reservation {
  const expected = estimator.expect(shapeOf(key, resolved));
  const { operation } = resolved.inbound;
  const outputTokens = operation === 'embeddings' || operation === 'count_tokens' ? 0 : expected.outputTokens;
  return {
    inputTokens: expected.inputTokens,
    outputTokens,
    costNanoUsd: dearestCost(candidatePrices(key, resolved), expected.inputTokens, outputTokens, resolved.askedUse),
  };
}

function candidatePrices(key: CompiledKey, resolved: Resolved): Price[] {
  const prices = [resolved.billedPrice];
  for (let i = 1; i < resolved.candidates.length; i += 1) {
    const model = resolved.candidates[i];
    const price = model && billedPriceOf(key.workspace.priceBook, model, key.workspace.policy);
    if (price !== undefined) prices.push(price);
  }
  return prices;
}

function take(call: Call, result: AdmitResult, retrySlots: RetrySlots): Refusal | undefined {
  call.view = result.view;
  if (!result.admitted) {
    const key = call.key as CompiledKey;
    return refusalOf(spread(call, key, result.refusal, retrySlots), key.workspace.policy);
  }
  call.lease = result.lease;
  return undefined;
}

/** The refusal with a wait of this caller's own, so that those who are refused together do not come back together. */
function spread(call: Call, key: CompiledKey, refusal: LimitRefusal, retrySlots: RetrySlots): LimitRefusal {
  if (refusal.kind === 'quota') return refusal;
  const level = key.scope.levels.find((one) => one.level === refusal.level);
  if (level === undefined) return refusal;
  const retryAfterMs = retrySlots.waitFor({
    limit: `${refusal.level}/${level.id}/${refusal.limit}`,
    waitMs: refusal.retryAfterMs,
    spacingMs: spacingOf(call, refusal, level.limits),
  });
  return { ...refusal, retryAfterMs };
}

/** How long the limit takes until it has room for one more call like this, ms. */
function spacingOf(call: Call, refusal: LimitRefusal, { requests, tokens }: Limits): number {
  // As many calls end in the time that one is expected to take as may run at once.
  if (refusal.kind === 'shed') return refusal.retryAfterMs / Math.max(1, refusal.limitValue);
  if (refusal.limit === 'requests')
    return requests?.perSecond === undefined ? 60_000 / (requests?.perMinute ?? Infinity) : 1_000 / requests.perSecond;
  const { inputTokens = 0, outputTokens = 0 } = call.reservation ?? {};
  return ((inputTokens + outputTokens) * 60_000) / (tokens?.perMinute ?? Infinity);
}
