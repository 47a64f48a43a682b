import type { RouteDecision } from '@sluice/contracts';
import { decide } from '../policy/decide.ts';
import { contextOf, predictModel, type CompiledSnapshot } from './compile-snapshot.ts';
import { toCandidates } from './decide-from-snapshot.ts';

/** Largest difference that is still the same probability. */
export const VERIFY_TOLERANCE = 1e-12;

export interface Verification {
  readonly maxDifference: number;
  readonly matches: boolean;
}

/**
 * Computes the probabilities of a logged decision again from what is logged of it, and compares them and the
 * choice.
 */
export function verifyDecision(record: RouteDecision): Verification {
  const { arms, u, alpha, gamma, floor, threshold, cost_weight: costWeight } = record;
  const predicted = arms.some(({ mean, excluded }) => mean !== undefined && excluded === undefined);
  if (!predicted)
    return {
      maxDifference: Math.abs(1 - record.propensity),
      matches: record.propensity === 1 && record.deterministic !== undefined,
    };
  const again = decide(
    toCandidates(arms, record.latency_share),
    {
      alpha,
      gamma,
      floor,
      threshold: threshold.value,
      costWeight,
      rejectedFloor: record.rejected_floor,
      rule: record.rule,
      referenceCost: record.reference_cost,
    },
    u,
  );
  if (again === undefined) return { maxDifference: 1, matches: false };
  let maxDifference = Math.abs(again.propensity - record.propensity);
  arms.forEach(({ probability }, i) => {
    maxDifference = Math.max(
      maxDifference,
      Math.abs(probability - (again.arms[i] as { probability: number }).probability),
    );
  });
  return {
    maxDifference,
    matches: maxDifference <= VERIFY_TOLERANCE && again.model === record.chosen && again.base === record.base,
  };
}

/**
 * Computes the predictions of a logged decision again from its snapshot; undefined when the snapshot has no such
 * policy.
 */
export function verifyPredictions(record: RouteDecision, compiled: CompiledSnapshot): Verification | undefined {
  const policy = [compiled.control, compiled.candidate].find((one) => one?.source.version === record.policy_version);
  if (policy === undefined || record.snapshot_id !== compiled.snapshot.snapshot_id) return undefined;
  const x = contextOf(policy, record.features);
  let maxDifference = 0;
  for (const { model, mean, width } of record.arms) {
    if (mean === undefined || width === undefined) continue;
    const again = predictModel(policy, model, x, record.features);
    maxDifference = Math.max(maxDifference, Math.abs(again.mean - mean), Math.abs(again.width - width));
  }
  return { maxDifference, matches: maxDifference <= VERIFY_TOLERANCE };
}
