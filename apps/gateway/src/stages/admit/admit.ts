import type { AdmitResult, LimitStore, Price, Refusal, UsageOutbox } from '@sluice/contracts';
import type { Call, Resolved } from '../../call.ts';
import type { CompiledKey } from '../../compiled-config.ts';
import type { Stage } from '../../stage.ts';
import type { Estimator } from '../../metering/estimator.ts';
import { billedPriceOf, dearestCost } from '../../metering/pricing.ts';
import { refusalOf } from './limit-refusal.ts';

export interface AdmitDeps {
  readonly limits: LimitStore;
  readonly estimator: Estimator;
  readonly outbox: Pick<UsageOutbox, 'accepting'>;
}

/**
 * Takes what the call is expected to need, in one atomic step: quota, bulkhead slot, rate. Nothing is taken when one of
 * them refuses, nor when the call could not be metered.
 */
export function createAdmitStage({ limits, estimator, outbox }: AdmitDeps): Stage {
  return {
    name: 'admit',
    run(call) {
      if (!outbox.accepting()) return { code: 'metering_full', retryAfterMs: 5_000 };
      const key = call.key as CompiledKey;
      const resolved = call.resolved as Resolved;
      const { workspace, policy } = key.workspace;
      const expected = estimator.expect(
        workspace.uuid,
        resolved.candidates[0].id,
        resolved.inbound.bytes.length,
        resolved.choices,
        resolved.maxOutputTokens,
        policy.defaultOutputTokens,
      );
      const reservation = {
        inputTokens: expected.inputTokens,
        outputTokens: resolved.inbound.operation === 'embeddings' || resolved.inbound.operation === 'count_tokens' ? 0 : expected.outputTokens,
        costNanoUsd: 0,
      };
      reservation.costNanoUsd = dearestCost(candidatePrices(key, resolved), reservation.inputTokens, reservation.outputTokens);
      call.reservation = reservation;
      const result = limits.admit({ leaseId: call.id, scope: key.scope, reservation });
      return result instanceof Promise ? result.then((later) => take(call, later)) : take(call, result);
    },
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

function take(call: Call, result: AdmitResult): Refusal | undefined {
  call.view = result.view;
  if (!result.admitted) return refusalOf(result.refusal, (call.key as CompiledKey).workspace.policy);
  call.lease = result.lease;
  return undefined;
}
