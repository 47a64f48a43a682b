import type { RouteDecision, ShadowDecision } from '@sluice/contracts';
import { decideFromSnapshot, fixedDecision, type CompiledSnapshot, type SnapshotRequest } from '@sluice/routing';
import { promptTextOf } from '../bodies/facts-of.ts';
import type { Call, ModelChoice, RoutedCall } from '../call.ts';
import type { CompiledKey } from '../compiled-config.ts';
import { variantDraw } from './variant-draw.ts';

export interface ChooseModelDeps {
  /** The snapshot in force; undefined before the first. */
  readonly current: () => CompiledSnapshot | undefined;
  readonly decisionId: () => string;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** The policy could not decide, so the default model answers. The message says nothing of the call's content. */
  readonly onFault: (reason: string) => void;
}

export type OpenChoice = Extract<ModelChoice, { kind: 'open' }>;

export type Routed = RoutedCall & { readonly decision: RouteDecision };

/**
 * Chooses the model of a call whose model is open, in-process and from the snapshot at hand. It waits for nothing and
 * refuses nothing: where the policy cannot be asked, the first candidate, which is the default, answers.
 *
 * @param budgetUsed share of the nearest money quota that is used.
 */
export type ChooseModel = (call: Call, choice: OpenChoice, budgetUsed: number) => Routed;

export function createChooseModel({ current, decisionId, random, onFault }: ChooseModelDeps): ChooseModel {
  return (call, choice, budgetUsed) => {
    const [first, ...others] = choice.candidates;
    const featureClass = call.resolved?.feature;
    const fixed = (reason: 'single_candidate' | 'no_snapshot'): Routed => ({
      decision: fixedDecision({
        decisionId: decisionId(),
        model: first.model.id,
        costNanoUsd: choice.costs[0] ?? 0,
        reason,
        featureClass,
      }),
    });
    if (others.length === 0) return fixed('single_candidate');
    const compiled = current();
    if (compiled === undefined) return fixed('no_snapshot');
    try {
      const request = requestOf(call, choice, compiled, budgetUsed, decisionId(), random);
      const result = decideFromSnapshot(compiled, request);
      if (result.status === 'decided') {
        const shadow = shadowOf(compiled, request, result.decision);
        return { decision: result.decision, ...(shadow === undefined ? {} : { shadow }) };
      }
      onFault(result.status === 'bad_features' ? result.message : result.status);
    } catch (error) {
      onFault(error instanceof Error ? error.message : 'unknown');
    }
    return fixed('no_snapshot');
  };
}

function requestOf(
  call: Call,
  { candidates, excluded, costs }: OpenChoice,
  compiled: CompiledSnapshot,
  budgetUsed: number,
  decisionId: string,
  random: () => number,
): SnapshotRequest {
  const { workspace, tenant } = (call.key as CompiledKey).workspace;
  const resolved = call.resolved as NonNullable<Call['resolved']>;
  const rollout = compiled.snapshot.candidate;
  return {
    decisionId,
    tenant: tenant.id,
    featureClass: resolved.feature,
    features: compiled.extractor.extract(promptTextOf(resolved.inbound)),
    candidates: [
      ...candidates.map(({ model }, i) => ({ model: model.id, costNanoUsd: costs[i] ?? 0 })),
      ...excluded.map(({ model, why }) => ({ model: model.id, costNanoUsd: 0, excluded: why })),
    ],
    budgetUsed,
    u: random(),
    variantDraw: rollout === undefined ? 0 : variantDraw(rollout.rollout_id, workspace.uuid, resolved.endUser, random),
  };
}

/**
 * What the candidate of a rollout would do that only watches so far: the same request and draw, with the candidate
 * in charge.
 */
function shadowOf(
  compiled: CompiledSnapshot,
  request: SnapshotRequest,
  served: RouteDecision,
): ShadowDecision | undefined {
  const { candidate } = compiled.snapshot;
  if (candidate?.stage !== 'shadow') return undefined;
  const about = { rollout_id: candidate.rollout_id, policy_version: candidate.policy.version };
  try {
    const result = decideFromSnapshot(
      { ...compiled, snapshot: { ...compiled.snapshot, candidate: { ...candidate, weight: 1 } } },
      { ...request, variantDraw: 0 },
    );
    if (result.status !== 'decided') return { ...about, error: result.status };
    const { chosen, base, arms } = result.decision;
    return {
      ...about,
      chosen,
      base,
      served_probability: arms.find(({ model }) => model === served.chosen)?.probability ?? 0,
    };
  } catch (error) {
    return { ...about, error: error instanceof Error ? error.message.slice(0, 300) : 'unknown' };
  }
}
