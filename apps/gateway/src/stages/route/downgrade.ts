import type { Clock } from '@sluice/contracts';
import type { Call, OpenCandidate, Resolved } from '../../call.ts';
import type { CompiledKey } from '../../compiled-config.ts';
import { dearestCost } from '../../metering/pricing.ts';
import { judgeModel } from '../../planning/judge-model.ts';
import { candidateOf, demandsOf } from '../../planning/open-choice.ts';
import type { Planner } from '../../planning/planner.ts';

/**
 * The model that the policy takes near the end of a money quota; undefined where the budget is not that far, the
 * caller pinned its model, the call cannot be answered by that model, or it would not be cheaper than the one that
 * is asked for.
 *
 * @param used share of the nearest money quota that is used.
 */
export function downgradeOf(
  call: Call,
  { clock, planner }: { clock: Clock; planner: Planner },
  used: number,
): OpenCandidate | undefined {
  const key = call.key as CompiledKey;
  const resolved = call.resolved as Resolved;
  const rule = key.workspace.policy.routing.budgetDowngrade;
  if (rule === undefined || used * 100 < rule.atPercent || resolved.pinned) return undefined;
  const model = call.config.models.get(rule.model);
  if (model === undefined || (resolved.choice?.kind !== 'open' && model === resolved.candidates[0])) return undefined;
  if (judgeModel(call.config, key, model, call.operation, clock.now()) !== undefined) return undefined;
  const candidate = candidateOf({ config: call.config, key, asked: resolved, planner }, model, demandsOf(resolved));
  if (typeof candidate === 'string') return undefined;
  const { inputTokens = 0, outputTokens = 0 } = call.reservation ?? {};
  // What was reserved is what the dearest one needs that would answer otherwise.
  const cheaper =
    resolved.choice?.kind === 'open' ||
    dearestCost([candidate.billedPrice], inputTokens, outputTokens) <
      dearestCost([resolved.billedPrice], inputTokens, outputTokens);
  return cheaper ? candidate : undefined;
}
