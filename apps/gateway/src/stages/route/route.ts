import type { Clock, RouteDecision } from '@sluice/contracts';
import { fixedDecision } from '@sluice/routing';
import type { Call, OpenCandidate, Resolved, RoutedCall } from '../../call.ts';
import type { CompiledKey } from '../../compiled-config.ts';
import { budgetUsed } from '../../router/budget-used.ts';
import type { ChooseModel, OpenChoice } from '../../router/choose-model.ts';
import type { Stage } from '../../stage.ts';
import { downgradeOf } from './downgrade.ts';
import type { Planner } from '../../planning/planner.ts';
import { isPlanRefusal } from '../../planning/static-plan.ts';

export interface RouteDeps {
  readonly clock: Clock;
  readonly planner: Planner;
  readonly chooseModel: ChooseModel;
  readonly decisionId: () => string;
  /** A decision was made and is recorded with the call. */
  readonly onDecision?: (decision: RouteDecision) => void;
}

/**
 * Chooses where the call goes. A call whose model was given has its plan by rule already. What depends on what is
 * left of the budget, and what is left to the learned policy, is decided here, after admission. It waits for
 * nothing.
 */
export function createRouteStage(deps: RouteDeps): Stage {
  return {
    name: 'route',
    run(call) {
      const resolved = call.resolved as Resolved;
      const { routing } = (call.key as CompiledKey).workspace.policy;
      call.plan = resolved.plan;
      if (resolved.choice === undefined && routing.budgetDowngrade === undefined) return undefined;
      const used = budgetUsed(call.view);
      const cheaper = downgradeOf(call, deps, used);
      if (cheaper !== undefined) downgrade(call, deps, resolved, cheaper);
      else if (resolved.choice?.kind === 'open') chooseAmong(call, deps, resolved, resolved.choice, used);
      else if (resolved.choice !== undefined)
        record(call, deps, { decision: fixed(call, deps, resolved, resolved.choice.by) });
      return undefined;
    },
  };
}

function chooseAmong(call: Call, deps: RouteDeps, resolved: Resolved, choice: OpenChoice, used: number): void {
  const routed = deps.chooseModel(call, choice, used);
  const { chosen, base, threshold } = routed.decision;
  const candidate = choice.candidates.find(({ model }) => model.id === chosen) ?? choice.candidates[0];
  // Where no provider of the chosen model can answer, the one that would have been chosen without exploration may.
  const next =
    choice.candidates.find(({ model }) => model.id === base && model !== candidate.model) ??
    (choice.candidates[0] === candidate ? undefined : choice.candidates[0]);
  take(call, deps, resolved, candidate, next, 'learned', routed);
  if (threshold.budget < 0) call.downgraded = true;
}

function downgrade(call: Call, deps: RouteDeps, resolved: Resolved, cheaper: OpenCandidate): void {
  const instead: Resolved = { ...resolved, candidates: [cheaper.model] };
  const routed = resolved.choice === undefined ? undefined : { decision: fixed(call, deps, instead, 'rule') };
  take(call, deps, resolved, cheaper, { model: resolved.candidates[0] }, 'downgrade', routed);
  call.downgraded = true;
}

/** From here on the call is as if the caller had asked for this model. */
function take(
  call: Call,
  { planner, onDecision }: RouteDeps,
  resolved: Resolved,
  { model, billedPrice, plan: own }: OpenCandidate,
  next: Pick<OpenCandidate, 'model'> | undefined,
  source: 'learned' | 'downgrade',
  routed: RoutedCall | undefined,
): void {
  const candidates: Resolved['candidates'] = next === undefined || next.model === model ? [model] : [model, next.model];
  const planned =
    candidates.length === 1
      ? own
      : planner.planFor(call.config, call.key as CompiledKey, {
          inbound: resolved.inbound,
          feature: resolved.feature,
          pinned: false,
          candidates,
        });
  const plan = { ...(isPlanRefusal(planned) ? own : planned), source, decisionId: routed?.decision?.decision_id };
  call.resolved = { ...resolved, candidates, billedPrice, plan };
  call.plan = plan;
  call.routed = routed;
  if (routed?.decision !== undefined) onDecision?.(routed.decision);
}

function record(
  call: Call,
  { onDecision }: RouteDeps,
  routed: RoutedCall & { readonly decision: RouteDecision },
): void {
  const resolved = call.resolved as Resolved;
  call.routed = routed;
  call.plan = { ...resolved.plan, decisionId: routed.decision.decision_id };
  onDecision?.(routed.decision);
}

/** The record of a choice that a pin or a rule made: propensity 1, left out of evaluation. */
function fixed(
  call: Call,
  { decisionId }: RouteDeps,
  { candidates, feature }: Resolved,
  reason: 'pin' | 'rule',
): RouteDecision {
  return fixedDecision({
    decisionId: decisionId(),
    model: candidates[0].id,
    costNanoUsd: call.reservation?.costNanoUsd ?? 0,
    reason,
    featureClass: feature,
  });
}
