import type { DriftAnswer } from '@sluice/contracts';
import type { DriftVerdict } from '@sluice/routing';
import { DRIFT_OPTIONS, type ArmSummary } from '../state/learned-arms.ts';

/** Rewards of a model before its predictions are held against it: at first they are what was supposed. */
export const SETTLED = 300;
/** Standard errors that a newest mean must lie beside the prediction as well. */
const BEYOND = 4;
/** Mean of the newest rewards less what was predicted, either way, from which on predictions are wrong. */
export const CALIBRATION_LIMIT = 0.05;
/** What a change of the mean must have led to. */
const CHANGE_LIMIT = CALIBRATION_LIMIT / 2;
const MAJOR = 0.25;
const OFF = 4;

/**
 * What the detectors of one model's rewards say: a fall (Page-Hinkley), another mean (ADWIN), or a newest mean
 * beside the prediction.
 */
export function rewardVerdicts(summaries: readonly ArmSummary[]): DriftVerdict[] {
  return summaries.flatMap(({ model, rewards, alarms, alarmedAt, recent, newest }) => {
    const common = { stream: `arm:${model}`, subject: model };
    const verdicts: DriftVerdict[] = [];
    if (alarms > 0 && alarmedAt >= SETTLED)
      verdicts.push({
        ...common,
        source: 'reward_fall',
        seen: alarmedAt,
        value: DRIFT_OPTIONS.threshold,
        limit: DRIFT_OPTIONS.threshold,
      });
    if (recent.cutAt >= SETTLED && Math.abs(recent.mean) > CHANGE_LIMIT)
      verdicts.push({
        ...common,
        source: 'reward_change',
        seen: recent.cutAt,
        value: recent.mean,
        limit: CHANGE_LIMIT,
      });
    const limit = Math.max(CALIBRATION_LIMIT, BEYOND * newest.error);
    if (newest.n >= SETTLED && Math.abs(newest.mean) > limit)
      verdicts.push({
        ...common,
        source: 'calibration',
        seen: rewards,
        value: newest.mean,
        limit: Number(limit.toFixed(4)),
      });
    return verdicts;
  });
}

/**
 * What the windows of decisions say. Features count when one has moved a lot by both measures: of so many decisions the
 * least shift is significant.
 *
 * @param seen decisions of each stream so far.
 */
export function windowVerdicts(
  report: Pick<DriftAnswer, 'features' | 'arm_mix' | 'mean_weight'>,
  seen: (stream: string) => number,
): DriftVerdict[] {
  const verdicts: DriftVerdict[] = [];
  const moved = report.features.filter(({ level, discovery }) => level === 'major' && discovery);
  if (moved.length > 0)
    verdicts.push({
      source: 'features',
      stream: 'features',
      subject: moved.map(({ name }) => name).join(', '),
      seen: seen('features'),
      value: Math.max(...moved.map(({ psi }) => psi)),
      limit: MAJOR,
    });
  if (report.arm_mix.level === 'major')
    verdicts.push({
      source: 'arm_mix',
      stream: 'arm_mix',
      subject: 'the mix of models',
      seen: seen('arm_mix'),
      value: report.arm_mix.psi,
      limit: MAJOR,
    });
  const weight = report.mean_weight;
  if (weight?.level === 'off')
    verdicts.push({
      source: 'weights',
      stream: 'weights',
      subject: 'logged probabilities',
      seen: seen('weights'),
      value: Math.abs(weight.mean - 1) / weight.error,
      limit: OFF,
    });
  return verdicts;
}
