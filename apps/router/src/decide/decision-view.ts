import type { DecisionView } from '@sluice/contracts';
import { explainArms, explainDecision, readSnapshot, verifyDecision, verifyPredictions } from '@sluice/routing';
import type { StoredDecision } from '../store/router-store.ts';

/** A stored decision as people read it; our own cost of its call only for `service`, never by the key of a customer. */
export function decisionView(stored: StoredDecision, reader: 'service' | 'key'): DecisionView {
  const { decision, call } = stored;
  return {
    decision,
    tenant: stored.tenant,
    workspace: stored.workspace,
    at: new Date(stored.atMs).toISOString(),
    source: stored.source,
    reward_state: stored.rewardState,
    ...(stored.reward === undefined ? {} : { reward: stored.reward }),
    feedback: stored.feedback.map(({ metric, value, atMs }) => ({ metric, value, at: new Date(atMs).toISOString() })),
    ...(call === undefined
      ? {}
      : {
          call: {
            outcome: call.outcome,
            ...(call.executedModel === undefined ? {} : { executed_model: call.executedModel }),
            ...(reader === 'service' && { cost_nanousd: call.costNanoUsd }),
            billed_nanousd: call.billedNanoUsd,
            output_tokens: call.outputTokens,
            total_ms: call.totalMs,
          },
        }),
    expires_at: new Date(stored.expiresAtMs).toISOString(),
    reason: explainDecision(decision).reason,
    arms: explainArms(decision),
  };
}

/**
 * Computes a decision again: its probabilities from its record, its predictions from the snapshot where that is
 * kept.
 */
export function verificationOf(
  { decision }: StoredDecision,
  snapshot: unknown,
): NonNullable<DecisionView['verification']> {
  const { maxDifference, matches } = verifyDecision(decision);
  if (decision.snapshot_id === undefined) return { max_difference: maxDifference, matches, predictions: 'none' };
  const again = snapshot === undefined ? undefined : verifyPredictions(decision, readSnapshot(snapshot));
  return {
    max_difference: maxDifference,
    matches,
    predictions:
      again === undefined ? 'snapshot_gone' : { max_difference: again.maxDifference, matches: again.matches },
  };
}
