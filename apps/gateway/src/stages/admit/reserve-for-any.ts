import type { Reservation, ServedUse } from '@sluice/contracts';
import type { ModelChoice } from '../../call.ts';
import type { CallShape, Estimate, Estimator } from '../../metering/estimator.ts';
import { dearestCost } from '../../metering/pricing.ts';

/**
 * Which model answers is not known yet: enough for the one that needs most. What each is expected to cost is kept
 * for the choice. A model that this workspace has not used is expected to answer as long as those that it has: next
 * to their measured lengths the policy's general expectation would make it look dear or cheap for no reason.
 */
export function reserveForAny(
  estimator: Estimator,
  shape: CallShape,
  choice: Extract<ModelChoice, { kind: 'open' }>,
  asked?: ServedUse,
): Reservation {
  const expected = choice.candidates.map(({ model }) => estimator.expect({ ...shape, model: model.id }));
  const usual = meanOfObserved(expected);
  const reservation = { inputTokens: 0, outputTokens: 0, costNanoUsd: 0 };
  choice.candidates.forEach(({ billedPrice }, i) => {
    const own = expected[i] as Estimate;
    const { inputTokens, outputTokens } = own.observed ? own : (usual ?? own);
    const cost = dearestCost([billedPrice], inputTokens, outputTokens, asked);
    choice.costs.push(cost);
    reservation.inputTokens = Math.max(reservation.inputTokens, inputTokens);
    reservation.outputTokens = Math.max(reservation.outputTokens, outputTokens);
    reservation.costNanoUsd = Math.max(reservation.costNanoUsd, cost);
  });
  return reservation;
}

function meanOfObserved(expected: readonly Estimate[]): Pick<Estimate, 'inputTokens' | 'outputTokens'> | undefined {
  let count = 0;
  let input = 0;
  let output = 0;
  for (const { observed, inputTokens, outputTokens } of expected) {
    if (!observed) continue;
    count += 1;
    input += inputTokens;
    output += outputTokens;
  }
  return count === 0 ? undefined : { inputTokens: Math.ceil(input / count), outputTokens: Math.ceil(output / count) };
}
