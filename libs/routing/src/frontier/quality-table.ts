import { standardError } from '../ope/intervals.ts';
import { indexOfLargest } from '../policy/exploration.ts';
import { risingHull, type FrontierPoint } from './metrics.ts';

/** What every model would have made of every prompt. Rows are prompts, columns models. */
export interface QualityTable {
  readonly models: readonly string[];
  /** In [0, 1]. */
  readonly qualities: readonly (readonly number[])[];
  /** In any one unit. */
  readonly costs: readonly (readonly number[])[];
}

/** A point of a router's frontier: what it costs and yields on average with this weight of cost. */
export interface SweepPoint extends FrontierPoint {
  readonly costWeight: number;
}

/**
 * The weights of cost that a frontier is drawn from: 0, then 120 in equal ratios up to one at which only cost
 * counts.
 */
export const COST_WEIGHTS: readonly number[] = [
  0,
  ...Array.from({ length: 120 }, (_, i) => 0.002 * (50 / 0.002) ** (i / 119)),
];

/**
 * The model of each row with the best predicted quality for its cost, as the rule `utility` chooses it.
 *
 * @param referenceCost what `costWeight` weighs; the dearest model of each row when absent. With one cost for all
 * rows a dear request saves more than a cheap one, as money does.
 */
export function chooseByUtility(
  predicted: readonly (readonly number[])[],
  { costs }: QualityTable,
  costWeight: number,
  referenceCost?: number,
): number[] {
  return predicted.map((qualities, row) => {
    const prices = costs[row] as readonly number[];
    const reference = referenceCost ?? Math.max(...prices);
    let best = 0;
    let most = -Infinity;
    for (let k = 0; k < qualities.length; k += 1) {
      const utility =
        (qualities[k] as number) - (reference <= 0 ? 0 : (costWeight * (prices[k] as number)) / reference);
      if (utility > most) [best, most] = [k, utility];
    }
    return best;
  });
}

/** Mean over the rows of the cost of the dearest model: a reference cost for a whole table. */
export function meanDearestCost({ costs }: QualityTable): number {
  return costs.reduce((sum, row) => sum + Math.max(...row), 0) / costs.length;
}

/** Mean cost and quality of choosing these models. */
export function pointOf(choices: readonly number[], { qualities, costs }: QualityTable): FrontierPoint {
  let cost = 0;
  let quality = 0;
  choices.forEach((model, row) => {
    cost += (costs[row] as readonly number[])[model] as number;
    quality += (qualities[row] as readonly number[])[model] as number;
  });
  return { cost: cost / choices.length, quality: quality / choices.length };
}

/**
 * One point for each weight of cost, the dearest first. With the table's own qualities as predictions it is the
 * oracle's.
 */
export function sweep(
  predicted: readonly (readonly number[])[],
  table: QualityTable,
  referenceCost?: number,
  weights: readonly number[] = COST_WEIGHTS,
): SweepPoint[] {
  return weights.map((costWeight) => ({
    costWeight,
    ...pointOf(chooseByUtility(predicted, table, costWeight, referenceCost), table),
  }));
}

/** Each model alone. */
export function singleModels(table: QualityTable): FrontierPoint[] {
  return table.models.map((_, k) =>
    pointOf(
      table.qualities.map(() => k),
      table,
    ),
  );
}

/** The cheapest point that loses at most `loss` of the reference's quality; undefined when none does. */
export function cheapestWithin<P extends FrontierPoint>(
  points: readonly P[],
  reference: FrontierPoint,
  loss: number,
): P | undefined {
  return points
    .filter(({ quality }) => quality >= reference.quality - loss)
    .reduce<P | undefined>((best, point) => (best === undefined || point.cost < best.cost ? point : best), undefined);
}

/**
 * Least cost at which a mixture of points (each request goes to one of two at random) loses at most `loss`;
 * undefined when none does.
 */
export function mixtureCostWithin(
  points: readonly FrontierPoint[],
  reference: FrontierPoint,
  loss: number,
): number | undefined {
  const wanted = reference.quality - loss;
  const hull = risingHull(points);
  const above = hull.findIndex(({ quality }) => quality >= wanted);
  if (above <= 0) return hull[above]?.cost;
  const [left, right] = [hull[above - 1] as FrontierPoint, hull[above] as FrontierPoint];
  return left.cost + ((wanted - left.quality) / (right.quality - left.quality)) * (right.cost - left.cost);
}

export interface OperatingPoint extends SweepPoint {
  /** Part of the reference model's cost. */
  readonly saved: number;
  /** Mean quality that the reference model has more, and its standard error over the rows. */
  readonly loss: number;
  readonly lossError: number;
}

/** Index of the single model of the best mean quality. */
export function bestModel(table: QualityTable): number {
  return indexOfLargest(singleModels(table).map(({ quality }) => quality));
}

/** What a weight of cost saves and loses against always taking one model. */
export function operatingPoint(
  predicted: readonly (readonly number[])[],
  table: QualityTable,
  against: number,
  costWeight: number,
  referenceCost?: number,
): OperatingPoint {
  const choices = chooseByUtility(predicted, table, costWeight, referenceCost);
  const point = pointOf(choices, table);
  const reference = pointOf(
    choices.map(() => against),
    table,
  );
  const losses = table.qualities.map((row, i) => (row[against] as number) - (row[choices[i] as number] as number));
  return {
    costWeight,
    ...point,
    saved: 1 - point.cost / reference.cost,
    loss: reference.quality - point.quality,
    lossError: standardError(losses),
  };
}

/**
 * The weight of cost that saves most among those that lose at most `loss` against the best single model, by
 * predictions for rows that were not fitted on; undefined when none does.
 *
 * @param errors standard errors that are added to each loss: 0 takes the mean, 1.645 is sure at 95 %.
 */
export function chooseCostWeight(
  predicted: readonly (readonly number[])[],
  table: QualityTable,
  {
    loss,
    errors,
    referenceCost,
  }: { readonly loss: number; readonly errors: number; readonly referenceCost?: number | undefined },
): number | undefined {
  const against = bestModel(table);
  const points = COST_WEIGHTS.map((costWeight) =>
    operatingPoint(predicted, table, against, costWeight, referenceCost),
  ).filter((point) => point.loss + errors * point.lossError <= loss);
  return points.reduce<OperatingPoint | undefined>(
    (best, point) => (best === undefined || point.saved > best.saved ? point : best),
    undefined,
  )?.costWeight;
}

/** The rows of a table by index. */
export function rowsOf({ models, qualities, costs }: QualityTable, rows: readonly number[]): QualityTable {
  return {
    models,
    qualities: rows.map((row) => qualities[row] as readonly number[]),
    costs: rows.map((row) => costs[row] as readonly number[]),
  };
}

/**
 * Predictions for rows that no fit has seen: each fold's by a fit on the others. Every choice (penalty, features,
 * weight of cost) is made on these; the rows of the final test take no part.
 *
 * @param fit gives predictions for `test` after it has learned from `train`, both as indices of rows.
 * @returns predictions for `rows`, in their order.
 */
export function crossFitted(
  rows: readonly number[],
  foldOf: (row: number) => number,
  fit: (train: readonly number[], test: readonly number[]) => number[][],
): number[][] {
  const predicted = new Map<number, number[]>();
  for (const fold of new Set(rows.map(foldOf))) {
    const test = rows.filter((row) => foldOf(row) === fold);
    const made = fit(
      rows.filter((row) => foldOf(row) !== fold),
      test,
    );
    test.forEach((row, i) => predicted.set(row, made[i] as number[]));
  }
  return rows.map((row) => predicted.get(row) as number[]);
}
