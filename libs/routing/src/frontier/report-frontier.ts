import { indexOfLargest } from '../policy/exploration.ts';
import {
  averageGapRecovered,
  averageQuality,
  callPerformanceThreshold,
  type FrontierPoint,
  type StrongShareCurve,
} from './metrics.ts';
import {
  cheapestWithin,
  mixtureCostWithin,
  singleModels,
  sweep,
  type QualityTable,
  type SweepPoint,
} from './quality-table.ts';

/** Accuracy by the share of calls to the strong model when those with the largest predicted gain go there first. */
export function strongShareCurve(
  gain: readonly number[],
  weak: readonly number[],
  strong: readonly number[],
): StrongShareCurve {
  const order = gain.map((_, row) => row).sort((a, b) => (gain[b] as number) - (gain[a] as number) || a - b);
  const share = [0];
  const accuracy = [weak.reduce((sum, quality) => sum + quality, 0) / weak.length];
  order.forEach((row, i) => {
    share.push((i + 1) / order.length);
    accuracy.push((accuracy[i] as number) + ((strong[row] as number) - (weak[row] as number)) / order.length);
  });
  return { share, accuracy };
}

export interface FrontierReport {
  readonly rows: number;
  /** The single model of the best quality: what is saved and lost is measured against it. */
  readonly best: FrontierPoint & { readonly model: string };
  readonly singles: readonly FrontierPoint[];
  readonly points: readonly SweepPoint[];
  readonly oraclePoints: readonly SweepPoint[];
  /** Mean quality over the range from the cheapest to the dearest single model. */
  readonly aiq: { readonly router: number; readonly hull: number; readonly randomMix: number; readonly oracle: number };
  /**
   * Gap recovered between cheapest and best single model, and the share of calls to the best that recovers half of
   * it.
   */
  readonly apgr: number;
  readonly cpt50: number | undefined;
  /** Part of the best single model's cost that is saved within the loss, read off this table's own curves. */
  readonly savedWithin: {
    readonly router: number;
    readonly hull: number;
    readonly randomMix: number;
    readonly oracle: number;
  };
}

/**
 * A router's frontier beside its references: the hull of single models (the best mixture of two), a random mix of the
 * cheapest and the best, and the oracle, which knows each row's qualities.
 *
 * @param predicted quality of each model for each row.
 * @param loss of mean quality that is accepted.
 * @param referenceCost what a weight of cost weighs; each row's dearest model when absent.
 */
export function reportFrontier(
  predicted: readonly (readonly number[])[],
  table: QualityTable,
  { loss, referenceCost }: { readonly loss: number; readonly referenceCost?: number | undefined },
): FrontierReport {
  const singles = singleModels(table);
  const strong = indexOfLargest(singles.map(({ quality }) => quality));
  const weak = indexOfLargest(singles.map(({ cost }) => -cost));
  const best = { ...(singles[strong] as FrontierPoint), model: table.models[strong] as string };
  const cheapest = singles[weak] as FrontierPoint;
  const dearest = Math.max(...singles.map(({ cost }) => cost));
  const points = sweep(predicted, table, referenceCost);
  const oraclePoints = sweep(table.qualities, table, referenceCost);
  const ends = [cheapest, best];
  const aiqOf = (frontier: readonly FrontierPoint[]): number =>
    averageQuality([...frontier, cheapest], cheapest.cost, dearest);
  const saved = (cost: number | undefined): number => (cost === undefined ? Number.NaN : 1 - cost / best.cost);
  const column = (matrix: readonly (readonly number[])[], k: number): number[] => matrix.map((row) => row[k] as number);
  const curve = strongShareCurve(
    predicted.map((row) => (row[strong] as number) - (row[weak] as number)),
    column(table.qualities, weak),
    column(table.qualities, strong),
  );
  return {
    rows: table.qualities.length,
    best,
    singles,
    points,
    oraclePoints,
    aiq: { router: aiqOf(points), hull: aiqOf(singles), randomMix: aiqOf(ends), oracle: aiqOf(oraclePoints) },
    apgr: averageGapRecovered(curve),
    cpt50: callPerformanceThreshold(curve, 0.5),
    savedWithin: {
      router: saved(cheapestWithin(points, best, loss)?.cost),
      hull: saved(mixtureCostWithin(singles, best, loss)),
      randomMix: saved(mixtureCostWithin(ends, best, loss)),
      oracle: saved(cheapestWithin(oraclePoints, best, loss)?.cost),
    },
  };
}
