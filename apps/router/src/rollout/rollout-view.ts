import type { RolloutView } from '@sluice/contracts';
import { DEFAULT_ROLLOUT, PROMOTE_AFTER, requestsNeeded, STAGE_WEIGHT } from '@sluice/routing';
import type { HardLimit } from '../learn/rollout-guard.ts';
import type { RolloutRecord } from '../state/rollout-record.ts';

const SHADOW_SAMPLES =
  'rated decisions of the control, weighted by what the candidate would have done: a shadow has no rewards of its own';
const CANARY_SAMPLES = 'rated decisions that the candidate made in this stage';

/** A rollout as people read it. */
export function rolloutView(
  record: RolloutRecord,
  { clock = 'live', hard, nowMs }: { clock?: RolloutView['clock']; hard: readonly HardLimit[]; nowMs: number },
): RolloutView {
  const { state, life, stage, evidence } = record;
  const { candidateRewards, controlRewards, baseline, margin } = state;
  const left = Math.max(0, PROMOTE_AFTER - evidence.samples);
  const elapsedS = (nowMs - state.stageSinceMs) / 1000;
  const requests = stage === 'shadow' ? left : requestsNeeded(stage, left);
  const alphaBreach = stage === 'rolled_back' ? DEFAULT_ROLLOUT.alphaBreach.full : DEFAULT_ROLLOUT.alphaBreach[stage];
  const iso = (ms: number): string => new Date(ms).toISOString();
  return {
    id: record.id,
    policy_version: record.policyVersion,
    control_version: state.controlVersion,
    clock,
    state: life,
    stage,
    weight: life === 'running' || life === 'promoted' ? STAGE_WEIGHT[stage] : 0,
    samples: evidence.samples,
    needed: PROMOTE_AFTER,
    evidence: {
      log_breach: evidence.logBreach,
      log_breach_at: -Math.log(alphaBreach),
      log_promote: evidence.logPromote,
      log_promote_at: -Math.log(DEFAULT_ROLLOUT.alphaPromote),
    },
    quality: {
      ...(candidateRewards.n === 0 ? {} : { candidate: candidateRewards.sum / candidateRewards.n }),
      ...(controlRewards.n === 0 ? {} : { control: controlRewards.sum / controlRewards.n }),
      null_mean: baseline - margin,
      margin,
    },
    hard: hard.map(({ breached: _breached, ...limit }) => limit),
    eta_s:
      life !== 'running' || evidence.samples === 0 || elapsedS <= 0
        ? null
        : Math.round((left * elapsedS) / evidence.samples),
    requests_needed: life === 'running' && Number.isFinite(requests) ? requests : null,
    sample_kind: stage === 'shadow' ? SHADOW_SAMPLES : CANARY_SAMPLES,
    created_at: iso(state.createdAtMs),
    history: state.history.map(({ atMs, ...event }) => ({ at: iso(atMs), ...event })),
    points: state.points.map(({ atMs, stage: at, samples, logBreach, logPromote, mean }) => ({
      at: iso(atMs),
      stage: at,
      samples,
      log_breach: logBreach,
      log_promote: logPromote,
      mean,
    })),
  };
}
