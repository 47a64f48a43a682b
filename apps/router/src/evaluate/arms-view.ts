import type { ArmsAnswer, RouteDecision } from '@sluice/contracts';
import { contextOf, judge, looksAt, predictArm, predictModel, type CompiledSnapshot } from '@sluice/routing';
import type { CallAverages } from '../learn/call-averages.ts';
import type { ArmSummary } from '../state/learned-arms.ts';
import type { FeedbackRateRow } from '../store/router-store.ts';

const STEPS = 20;

export interface ArmsInput {
  readonly compiled: CompiledSnapshot;
  readonly summaries: readonly ArmSummary[];
  readonly averages: Pick<CallAverages, 'of'>;
  readonly rates: readonly FeedbackRateRow[];
  /** Recent decisions with predictions, for the frontier. */
  readonly recent: readonly RouteDecision[];
}

/**
 * The arms as they are now, and what quality costs: the base choice at thresholds from 0 to 1 over recent
 * decisions, as predicted.
 */
export function armsView({ compiled, summaries, averages, rates, recent }: ArmsInput): ArmsAnswer {
  const { control, snapshot } = compiled;
  const { settings } = control.source;
  // Every feature at its mean.
  const x = [1, ...control.source.features.names.map(() => 0)];
  const arms = control.source.arms.map(({ model, n }) => {
    const { mean, width } = predictArm(control.arms.get(model) ?? control.unseen, x);
    const average = averages.of(model);
    const summary = summaries.find((one) => one.model === model);
    const rate = rates.find((one) => one.model === model);
    return {
      model,
      n,
      decisions: rate?.decisions ?? 0,
      quality: mean,
      confidence: settings.alpha * width,
      ...(summary?.meanReward === undefined ? {} : { mean_reward: summary.meanReward }),
      ...(average === undefined
        ? {}
        : {
            mean_cost_nanousd: average.costNanoUsd,
            mean_latency_ms: average.latencyMs,
            mean_output_tokens: average.outputTokens,
          }),
      ...(rate === undefined || rate.decisions === 0 ? {} : { feedback_rate: rate.rated / rate.decisions }),
    };
  });
  return {
    policy_version: control.source.version,
    snapshot_id: snapshot.snapshot_id,
    arms,
    frontier: { ...frontierOf(compiled, recent), serving_threshold: settings.thresholds.default },
  };
}

function frontierOf(
  { control }: CompiledSnapshot,
  recent: readonly RouteDecision[],
): Omit<ArmsAnswer['frontier'], 'serving_threshold'> {
  const rows = recent
    .filter((decision) => looksAt(control.source.features, decision))
    .map(({ features, arms }) => {
      const x = contextOf(control, features);
      return arms
        .filter(({ excluded }) => excluded === undefined)
        .map(({ model, cost_nanousd }) => ({
          cost: cost_nanousd,
          prediction: predictModel(control, model, x, features),
        }));
    });
  const points = Array.from({ length: STEPS + 1 }, (_, i) => {
    const threshold = i / STEPS;
    let quality = 0;
    let cost = 0;
    for (const row of rows) {
      const base = baseOf(row, control.source.settings.alpha, threshold);
      quality += base.prediction.mean;
      cost += base.cost;
    }
    return { threshold, quality: quality / rows.length, cost_nanousd: cost / rows.length };
  });
  return { decisions: rows.length, points: rows.length === 0 ? [] : points };
}

interface PricedPrediction {
  readonly cost: number;
  readonly prediction: { readonly mean: number; readonly width: number };
}

function baseOf(row: readonly PricedPrediction[], alpha: number, threshold: number): PricedPrediction {
  const proven = row.filter(({ prediction }) => judge(prediction, alpha, threshold).confidence === 'proven');
  return proven.length > 0
    ? proven.reduce((a, b) => (b.cost < a.cost ? b : a))
    : row.reduce((a, b) => (b.prediction.mean > a.prediction.mean ? b : a));
}
